"""Speed against the peers, in one run on one machine: `make bench`, `make bench-quick`.

Subjects are separate processes in environments of their own; what is compared is ratios.
"""
