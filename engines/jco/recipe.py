"""How jco is installed, by which Node.js takes components: three npm packages and no others.

Of what translates components the part that makes JavaScript of one is used, which needs the
WASI 0.2 alone; what it could be optimised and made smaller with does not come (100 MB).
"""

VERSION = "0.15.0"
NEEDS = ["npm"]
SCOPE = "@bytecodealliance"
PACKAGES = {
    "jco-transpile": (VERSION, "sha512-MFftJ81B9TtHbvgCRZQod3jfgl62YvJszxsNdfx9IVNewxlX9q7U4Wd+w6gJzw+o9IjEGWoyg/BFpb/RnaJvlA=="),
    "preview2-shim": ("0.26.1", "sha512-+i+DI1QF7fcqKN30CSsESIv/Dopxg53p8YE1m/S5JkUBi1hLCECLp3457W84BNDHm8rqwMAonaM4xLNoJjeh5g=="),
}


def install(step, here, into) -> None:
    """Fills the folder `into` with packages, as Node.js looks for them."""
    step.say("the translator and its WASI 0.2 (npm, about 3 MB)")
    for name, (version, integrity) in PACKAGES.items():
        step.npm_package(f"{SCOPE}/{name}", version, integrity, into / "node_modules" / SCOPE / name)
