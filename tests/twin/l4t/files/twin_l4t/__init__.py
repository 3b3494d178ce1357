"""The board inside the twin: stand-ins of L4T's tools and of what its firmware and kernel show.

It runs in the guest on the guest's own python3: standard library, Python 3.8. ``$TWIN_L4T_ROOT`` (/ where it isn't set)
is put before every path, so that tests run the tools on any machine.
"""
