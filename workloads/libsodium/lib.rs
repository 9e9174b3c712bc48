//! Empty: this manifest exists so that cargo fetches the packages it names.
