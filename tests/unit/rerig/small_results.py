"""Results with just what a comparison looks at."""

NFS_DD = {
    "kind": "dd_read",
    "medium": "network",
    "direct": True,
    "evict": False,
    "block_bytes": 8388608,
    "read_bytes": 2147483648,
}
LOCAL_DD = {**NFS_DD, "medium": "block", "read_bytes": 4294967296}
FIO_QD1 = {
    "kind": "fio_read",
    "medium": "block",
    "direct": True,
    "evict": False,
    "block_bytes": 65536,
    "pattern": "random",
    "queue_depth": 1,
    "engine": "io_uring",
}


def case(identity, rates, number=1, target="t1", verdict="valid", codes=(), status="measured"):
    issues = [{"code": code, "what": "x", "expected": None, "actual": None, "repeat": None} for code in codes]
    return {
        "id": f"case-{number}.{target}",
        "target": target,
        "identity": identity,
        "status": status,
        "reason": None if status == "measured" else {"code": "fio_missing", "sentence": "fio is not installed"},
        "repeats": [{"bandwidth_bytes_per_s": rate} for rate in rates],
        "validity": {"verdict": verdict, "issues": issues},
    }


def result(*cases, codes=()):
    """As much of a result as a comparison looks at."""
    issues = [{"code": code, "what": "x", "expected": None, "actual": None, "repeat": None} for code in codes]
    return {
        "run": {"id": "run"},
        "targets": [{"id": "t1", "label": "a.bin"}, {"id": "t2", "label": "b.bin"}],
        "cases": list(cases),
        "validity": {"verdict": "doubtful" if codes else "valid", "issues": issues},
    }
