"""`python -m agssl` is the command `agssl`."""

from agssl.cli.main import entry

if __name__ == "__main__":
    entry()
