"""The schema takes what the judges let through, and nothing more: each drawn piece of evidence must end up valid."""

import copy
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rerig.schema import SCHEMAS, validate
from rerig_agent.judge.conditions_summary import public_kernel_release, summarize
from rerig_agent.judge.public_devices import public_device
from rerig_agent.judge.public_options import public_fs_type, public_nfs, public_options, public_smb
from rerig_agent.tools import dd_name, fio_name

NAS = json.loads((SCHEMAS / "examples/valid/result/nas-and-a-refused-file.json").read_text("utf-8"))
LOCAL = json.loads((SCHEMAS / "examples/valid/result/local-scratch-file.json").read_text("utf-8"))

# What stands in such places, honest and not: an address, a name, other alphabets' digits.
PARTS = st.sampled_from(
    (
        "0 1 6 9 10 192.168.1.20 5.15.153.1 6.8.0 24.04 45 generic custom el9_4 x86_64 rc1 v p V nas.example.net "
        "workstation 00-16-3e-5a-0b-1c 0b5c1f2e-7a3d-4c1e-9f00 fe80::1 \u0663 \u212a \u017ftandard kvm tcp 3 4.2 "
        "coreutils busybox fio dd uutils ext4 nfs4 fuse. sshfs"
    ).split()
)
SEPARATORS = st.sampled_from(["", "-", ".", "+", "~", "_", " ", "=", ":", "/", ", "])
TEXTS = st.lists(st.tuples(PARTS, SEPARATORS), min_size=1, max_size=5).map(lambda pairs: "".join(map("".join, pairs)))
ANYTHING = TEXTS | st.text(max_size=20)
QUICK = settings(max_examples=settings().max_examples * 6 // 10)  # each validates a whole document


def valid_with(example, place, value):
    """Whether the example is valid when the value stands at the place."""
    document = copy.deepcopy(example)
    *path, last = place
    at = document
    for key in path:
        at = at[key]
    at[last] = value
    return validate(document)


@QUICK
@given(
    st.fixed_dictionaries(
        {
            "kernel_release": TEXTS.map(lambda text: "6.8.0" + text[:50]) | ANYTHING,
            "machine": ANYTHING,
            "os_release": st.tuples(ANYTHING, ANYTHING).map(lambda pair: "ID={}\nVERSION_ID={}\n".format(*pair)),
            "python": ANYTHING | st.just("3.12.3"),
            "device_tree_model": ANYTHING,
            "cpuinfo": ANYTHING.map(lambda text: f"processor\t: 0\nmodel name\t: {text}\n"),
            "governors": st.dictionaries(st.just("cpu0"), ANYTHING | st.just("schedutil")),
            "hypervisor": st.fixed_dictionaries({"dmi_vendor": ANYTHING | st.just("QEMU"), "device_tree": ANYTHING}),
        }
    )
)
def test_every_summary_of_a_machine_is_taken(evidence):
    assert valid_with(LOCAL, ("machine", "before"), summarize(evidence)) == []


def reading(strategy):
    return st.fixed_dictionaries({"text": strategy}) | st.just({"error": "denied"})


CONFS = ANYTHING.map(
    lambda name: (
        f"< PARAM TYPE=CLOCK NAME=GPU >\nMAX_FREQ /sys/gpu\n< POWER_MODEL ID=2 NAME={name} >\nGPU MAX_FREQ -1\n"
        "< PM_CONFIG DEFAULT=2 >\n"
    )
)
COMPATIBLE = st.sampled_from(["nvidia,p3768-0000+p3767-0005-super\0", "nvidia,p3737-0000+p3701-0005\0"]) | ANYTHING
JETSONS = st.fixed_dictionaries(
    {
        "device_tree": st.fixed_dictionaries({"compatible": reading(COMPATIBLE), "ids": reading(ANYTHING)}),
        "files": st.fixed_dictionaries(
            {
                "nv_tegra_release": reading(
                    ANYTHING | TEXTS.map(lambda words: f"# R36 (release), REVISION: {words}, GCID: 1, BOARD: generic")
                ),
                "nvpmodel_status": reading(st.just("pmode:0002") | ANYTHING),
            }
        ),
        "conf": reading(
            CONFS
            | st.sampled_from(["MAXN_SUPER", "MINSU", "25W"]).map(lambda name: f"< POWER_MODEL ID=2 NAME={name} >")
        ),
        "caps": st.just({"/sys/gpu": {"text": "612000000"}}),
        "gpu": st.fixed_dictionaries(
            {
                "available_frequencies": reading(st.sampled_from(["306000000 1020000000", "1" * 25]) | ANYTHING),
                "max_freq": reading(st.sampled_from(["1020000000", "1" * 25]) | ANYTHING),
            }
        ),
    }
)


@QUICK
@given(JETSONS)
def test_every_state_of_a_board_is_taken(jetson):
    assert valid_with(LOCAL, ("machine", "before"), summarize({"jetson": jetson})) == []


@QUICK
@given(ANYTHING, ANYTHING)
def test_every_name_of_a_tool_is_taken(dd, fio):
    tools = {
        "dd": dd_name(dd),
        "fio": fio_name(fio),
        "python": None,
    }
    assert valid_with(LOCAL, ("machine", "tools"), tools) == []
    spoken = {"dd": dd_name(f"dd (GNU coreutils) {dd}"), "fio": fio_name(f"fio-3.36{fio}"), "python": None}
    assert valid_with(LOCAL, ("machine", "tools"), spoken) == []


DEVICE = {
    **dict.fromkeys(("partition_of", "size_bytes", "rotational", "logical_block_bytes", "model", "transport")),
    **dict.fromkeys(("dm_kind", "md_level", "read_ahead_kb", "scheduler", "max_sectors_kb", "pcie")),
    "name": "sda",
    "slaves": [],
}
WORDS = st.sampled_from("nvme dm lvm crypt raid0 raid10 linear none mq-deadline bfq nvme_fabrics lvm_cache".split())


@QUICK
@given(
    st.fixed_dictionaries(
        {key: WORDS | ANYTHING | st.none() for key in ("transport", "dm_kind", "md_level", "scheduler", "model")}
    )
)
def test_every_device_is_taken(words):
    device = public_device({**DEVICE, **words}, {"sda": "sda"})
    assert valid_with(LOCAL, ("targets", 0, "devices"), [device]) == []


OPTIONS = st.sampled_from(
    "rw vers=4.2 vers=3.1.1 vers=default proto=tcp6 cache=strict cache=0x5 hard max_channels=4 multichannel ip=10.0.0.5"
    " rsize=131072 compress=zstd:3 addr=192.168.1.20 username=person source=nas:/export xino=auto".split()
)


@QUICK
@given(
    st.fixed_dictionaries(
        {key: ANYTHING | st.sampled_from(["4.1", "3", "tcp", "rdma6"]) for key in ("version", "proto")}
    ),
    st.lists(OPTIONS | ANYTHING, max_size=6),
    st.sampled_from(["ext4", "nfs4", "fuse.sshfs", "fuse.ntfs-3g", "fuseblk", "9p", "smb3"]) | ANYTHING,
)
def test_every_file_system_is_taken(nfs, options, fs_type):
    public = public_options(options)
    block = {"type": public_fs_type(fs_type), "options": public, "nfs": public_nfs(nfs), "smb": public_smb(public)}
    assert valid_with(NAS, ("targets", 0, "file_system"), block) == []


@pytest.mark.parametrize(
    ("release", "shown"),
    [
        ("192.168.1.20", None),
        ("10.0.0.5", None),
        ("10.0.0.5-generic", None),
        ("6.8.0-10.0.0.5", "6.8.0-custom"),
        ("6.8.0-10.0.0.5-workstation", "6.8.0-custom"),
        ("5.15.153.1-microsoft-standard-WSL2", "5.15.153.1-microsoft-standard-WSL2"),
        ("5.14.0-427.13.1.el9_4.aarch64", "5.14.0-427.13.1.el9_4.aarch64"),
        ("10.2.0-45-generic", "10.2.0-45-generic"),
        ("\u0666.8.0", None),
        ("6.8.0-\u017ftandard", "6.8.0-custom"),
    ],
)
def test_a_kernels_release_holds_no_address_and_stays_what_it_is(release, shown):
    assert public_kernel_release(release) == shown
    assert valid_with(LOCAL, ("machine", "before", "kernel_release"), shown) == []
    if shown is not None:
        assert public_kernel_release(shown) == shown
    if shown != release:
        assert valid_with(LOCAL, ("machine", "before", "kernel_release"), release) != []


@pytest.mark.parametrize(
    "sentence",
    [
        "The file is on 9p, and 3,006,477,108 bytes of it were read at 12:34:56.",
        "The version 1.2.3 of fio has none of the engines (io_uring::fixed) that the suite asks for.",
        "./inv reads 1.5 MB/s of I/O: 2.5.",
    ],
)
def test_a_sentence_may_hold_numbers_times_and_versions(sentence):
    document = copy.deepcopy(NAS)
    document["targets"][1]["refusal"]["sentence"] = sentence
    assert validate(document) == []
