//! Nothing: the manifest beside it names what is fetched.
