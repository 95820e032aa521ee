"""AMD machine code on a CPU: tinygrad's emulator of single instructions, mended, and a loop around it.

tinygrad (MIT licence) is the user's own copy, given by path, and is never written to: the fixes below replace
functions in memory. Of the emulator this uses what an instruction does to registers and memory. Work-groups,
waves, barriers, local memory and the start of a kernel (kernel descriptor, code object metadata, as in LLVM's
"User Guide for AMDGPU Backend") are here.
"""
import ctypes
import inspect
import itertools
import mmap
import os
import struct
import subprocess
import sys
import tempfile
import textwrap
import time

COMMIT = "a9069c177a9da9cca18593edf55acd2e6073cca6"  # of github.com/tinygrad/tinygrad, 2026-08-22
TARGETS = {"gfx942": ("cdna", 64), "gfx1100": ("rdna3", 32)}  # the emulator's name, work-items in a wave
POISON = 0xA5  # local memory at the start of a group, and what lies behind a buffer
# Skipped, for there are no caches: buffer_inv, buffer_wbl2, buffer_gl0_inv, buffer_gl1_inv, by their upper bits.
CACHES = {0xE0A4: "gfx942", 0xE0A0: "gfx942", 0xE0AC: "gfx1100", 0xE0B0: "gfx1100"}


class EmulatorError(Exception):
    """A launch that cannot be executed, and why."""


# ---- the fixes --------------------------------------------------------------------------------------------


def fix_rndne(emu, pcode):
    """Rounding to nearest, ties to even, was floor(x + 0.5), and that sum rounds: 0.49999997 became 1, and
    8388609 became 8388610. The part behind the point is exact, so it decides."""
    def rounded(x):
        whole = pcode._FUNCS["trunc"](x)
        rest = pcode._FUNCS["abs"](x - whole)
        half = rest.eq(x.const_like(0.5))
        up = (x.const_like(0.5) < rest) | (half & pcode._FUNCS["isEven"](whole).logical_not())
        away = (x < x.const_like(0)).where(x.const_like(-1), x.const_like(1))
        return up.where(whole + away, whole)

    pcode._FUNCS["ergocl_rndne"] = rounded
    documented = emu.get_pcode(emu.irc.VOP1Op.V_RNDNE_F32_E32)
    emu._pcode_fixes["V_RNDNE_F32"] = (documented, "D0.f32 = ergocl_rndne(S0.f32)")


def fix_returned_atomics(emu, _pcode):
    """An atomic returns the old value where its bit glc is set. gfx940 and later call that bit sc0, which the
    emulator did not look at: the register kept what it had."""
    for kind in (emu.irc.GLOBAL, emu.irc.FLAT):
        kind.glc = property(lambda inst: inst.sc0)


def fix_inactive_memory(emu, _pcode):
    """Work-items that EXEC switches off take no part in an access to local memory or an atomic. The emulator
    read at their addresses and wrote back what it had read; what is in the address register of such a
    work-item may be anything, also no address."""
    old = emu._compile_mem_op
    replace(emu, old, {
        "mem.index(addr >> addr_shift)\n": "mem.index((addr >> addr_shift).valid(active))\n",
        "'_lds': mem,": "'_lds': mem, '_active': _lane_active(exec_mask, lane),",
    })
    for kind, handler in emu._INST_HANDLERS.items():
        if handler is old:
            emu._INST_HANDLERS[kind] = emu._compile_mem_op


def fix_carry_mask(emu, _pcode):
    """A carry out, as the outcome of a comparison, has a zero for each work-item that EXEC switches off. The
    emulator wrote the carry of what happened to be in that work-item's registers."""
    old = emu._Ctx.unroll_lanes
    emu._Ctx.unroll_lanes = lambda self, bit_of, mask, apply_exec=True: old(self, bit_of, mask, True)


def fix_sdwa_carry(emu, _pcode):
    """The carry of an addition or subtraction of parts of words (SDWA, gfx9 alone) is a mask of all work-items. The
    emulator's loop over them kept the last one's bit, and of the others what was in the mask before."""
    old = emu._compile_sdwa
    replace(emu, old, {
        "  vcc_val = None\n": "  vcc_val, masks = None, []\n",
        "stores.extend(ctx.wmask_lane_bit(_c(VCC_LO.offset), lane, val, exec_mask))":
            "carry = lambda l, v=val: _to_u32(v.substitute({lane: l})); "
            "masks = ctx.wmask(sdst_off, ctx.unroll_lanes(carry, exec_mask))",
        "return UOp.sink(UOp.sink(*stores)": "return UOp.sink(*masks, UOp.sink(*stores)",
    })
    for kind, handler in emu._INST_HANDLERS.items():
        if handler is old:
            emu._INST_HANDLERS[kind] = emu._compile_sdwa


def fix_unaligned(emu, pcode):
    """A word of 32 bits may be stored at any address, and one of 16 bits loaded from any: cards do both, and compilers join
    stores of 16 bits and loads of 8 bits to such ones. The emulator left the lowest bits of these addresses out, as it
    does not of loads of 32 bits."""
    replace(emu, emu._mem_store, {
        "  if data_bits == 32: return [idx.store(active.where(_to_u32(val), idx))]\n":
            "  if data_bits == 32:\n"
            "    shift, value, ones = (addr.cast(dtypes.uint32) & _c(3)) * _c(8), _to_u32(val), _c(0xFFFFFFFF)\n"
            "    apart = active & shift.ne(_c(0))\n"
            "    other = mem.index((word_addr + UOp.const(1, adt)).valid(apart))\n"
            "    first = (idx & ((ones << shift) ^ ones)) | (value << shift)\n"
            "    second = (other & (ones << shift)) | (value >> ((_c(32) - shift) & _c(31)))\n"
            "    return [idx.store(active.where(first, idx)), other.store(apart.where(second, other))]\n",
    })
    old = pcode.Parser._handle_mem_load
    short = (pcode.dtypes.uint16, pcode.dtypes.int16)
    pcode.Parser._handle_mem_load = lambda self, address, kind: old(self, address, kind) if kind not in short else \
        pcode._cast_to(old(self, address, pcode.dtypes.uint32) & pcode._u32(0xFFFF), kind)


FIXES = (fix_rndne, fix_returned_atomics, fix_inactive_memory, fix_carry_mask, fix_sdwa_carry,
         fix_unaligned)


def replace(emu, function, changes):
    """Define a function of the emulator anew, with some of its text changed."""
    text = textwrap.dedent(inspect.getsource(function))
    for old, new in changes.items():
        if text.count(old) != 1:
            raise EmulatorError(f"{function.__name__} of this tinygrad is another; commit {COMMIT} is known to work")
        text = text.replace(old, new)
    exec(compile(text, f"<{function.__name__}, mended>", "exec"), vars(emu))


def load(path, fixes=FIXES):
    """The emulator of the tinygrad in a folder, mended."""
    if path not in sys.path:
        sys.path.insert(0, path)
    os.environ.setdefault("DEV", "CPU")
    try:
        import test.mockgpu.amd.emu as emu
        import test.mockgpu.amd.pcode as pcode
        for fix in fixes:
            fix(emu, pcode)
    except (ImportError, AttributeError) as error:
        raise EmulatorError(f"{path}: not a tinygrad as of commit {COMMIT}: {error}") from error
    emu.get_pcode.cache_clear()
    emu._get_runner.cache_clear()
    emu._canonical_runner_cache.clear()
    return emu


# ---- memory -----------------------------------------------------------------------------------------------


class Memory:
    """Bytes at an address, a page of poison behind them."""

    def __init__(self, size, data=b""):
        self.size = size
        self.map = mmap.mmap(-1, size + mmap.PAGESIZE)
        self.map[:] = data.ljust(size, b"\0") + bytes([POISON]) * mmap.PAGESIZE
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.map))

    def bytes(self):
        return self.map[:self.size]

    def intact(self):
        return self.map[self.size:] == bytes([POISON]) * mmap.PAGESIZE


def unpacked(data):
    """The first value of a MessagePack document and what follows it: the kinds that metadata has."""
    first, rest = data[0], data[1:]
    if first < 0x80:
        return first, rest
    if first in (0xC2, 0xC3):
        return first == 0xC3, rest
    if 0xCC <= first <= 0xD3:
        width = 1 << ((first - 0xCC) & 3)
        return int.from_bytes(rest[:width], "big", signed=first >= 0xD0), rest[width:]
    if first & 0xE0 == 0xA0 or first in (0xD9, 0xDA):
        width = 0 if first < 0xC0 else first - 0xD8
        length = int.from_bytes(rest[:width], "big") if width else first & 31
        return rest[width:width + length].decode(), rest[width + length:]
    wide = first in (0xDC, 0xDE)
    count = int.from_bytes(rest[:2], "big") if wide else first & 15
    rest, items = rest[2 if wide else 0:], []
    mapping = first & 0xF0 == 0x80 or first == 0xDE
    for _ in range(count * (1 + mapping)):
        item, rest = unpacked(rest)
        items.append(item)
    return (dict(zip(items[::2], items[1::2])) if mapping else items), rest


class CodeObject:
    """What clang wrote for a program, loaded: kernels and where they start."""

    def __init__(self, path):
        with open(path, "rb") as file:
            elf = file.read()
        segments = [struct.unpack_from("<IIQQQQQQ", elf, at)
                    for at in range(*self.table(elf, 0x20, 0x36))]
        self.memory = Memory(max(v + m for _, _, _, v, _, _, m, _ in segments))
        for kind, _, offset, virtual, _, size, _, _ in segments:
            if kind == 1:  # PT_LOAD
                self.memory.map[virtual:virtual + size] = elf[offset:offset + size]
            elif kind == 4:  # PT_NOTE, and in it NT_AMDGPU_METADATA
                _, length, note = struct.unpack_from("<III", elf, offset)
                if note == 32:
                    metadata, _ = unpacked(elf[offset + 20:offset + 20 + length])
        sections = [struct.unpack_from("<IIQQQQIIQQ", elf, at) for at in range(*self.table(elf, 0x28, 0x3A))]
        if any(kind == 4 and size for _, kind, _, _, _, size, *_ in sections):
            raise EmulatorError("the program has relocations")
        symbols = {}
        for _, kind, _, _, offset, size, link, *_ in sections:
            if kind == 11:  # SHT_DYNSYM
                for at in range(offset, offset + size, 24):
                    name, value = struct.unpack_from("<I4xQ", elf, at)
                    begin = sections[link][4] + name
                    symbols[elf[begin:elf.index(b"\0", begin)].decode()] = value
        self.kernels = {k[".name"]: (k, symbols[k[".symbol"]]) for k in metadata["amdhsa.kernels"]}

    @staticmethod
    def table(elf, where, shape):
        """Where entries of the table of segments or sections are."""
        begin, (size, count) = struct.unpack_from("<Q", elf, where)[0], struct.unpack_from("<HH", elf, shape)
        return begin, begin + size * count, size


# ---- registers by an index -------------------------------------------------------------------------------


def moves_by_index(target, code):
    """What arrays in registers become, which the emulator does not know: [(address from here, moves, bytes), ...], or None.
    A move: the register that is written, the source, and which of them the index in M0, or in an SGPR, is added to. gfx942
    sets a mode for v_mov_b32 that follow, with scalar comparisons between them; gfx1100 has v_movreld_b32 and
    v_movrels_b32."""
    words = struct.unpack(f"<{len(code) // 4}I", code)
    if target == "gfx1100":
        kind = words[0] >> 9 & 0xFF
        if words[0] >> 25 != 0x3F or kind not in (0x42, 0x43):
            return None
        return [(0, [(125, words[0] >> 17 & 0xFF, words[0] & 0x1FF, kind == 0x42, kind == 0x43)], 4)]
    if words[0] >> 16 != 0xBF11:  # s_set_gpr_idx_on
        return None
    index, found = words[0] & 0xFF, [(0, [], 4)]
    for n, word in enumerate(words[1:], 1):
        if word == 0xBF9C0000:  # s_set_gpr_idx_off
            return found + [(4 * n, [], 4)]
        if word >> 25 == 0x3F and word >> 9 & 0xFF == 1 and word & 0x1FF != 255 and not words[0] >> 8 & 6:  # v_mov_b32
            move = index, word >> 17 & 0xFF, word & 0x1FF, words[0] >> 11 & 1, words[0] >> 8 & 1
            found.append((4 * n, [move], 4))
        elif word >> 23 != 0x17E or 255 in (word & 0xFF, word >> 8 & 0xFF):  # s_cmp_..., of one word
            break
    raise EmulatorError(f"{code.hex()}: registers by an index, in another way than was seen")


def move_by_index(state, wave, moves):
    """Do these for the work-items that EXEC has."""
    active = state._read_sgpr(126) | (state._read_sgpr(127) << 32 if wave == 64 else 0)
    for index, to, source, of_to, of_source in moves:
        index = state._read_sgpr(index) & 0xFF
        for lane in (lane for lane in range(wave) if active >> lane & 1):
            value = state._read_sgpr(source) if source < 256 else \
                state._read_vgpr(source - 256 + of_source * index, lane)
            state._write_vgpr(to + of_to * index, lane, value)


# ---- execution --------------------------------------------------------------------------------------------


class Machine:
    """Runs code of one target. Waves of a group run one after the other from barrier to barrier, the last first
    if `backwards` is set, and so do the groups of a launch."""

    def __init__(self, emu, target, backwards=False):
        self.emu, self.target, self.backwards = emu, target, backwards
        self.arch, self.wave = TARGETS[target]
        self.steps = {}

    def step(self, pc):
        """What is done at an address: (function, its buffers, is it a barrier), or moves and a size to skip."""
        code = ctypes.string_at(pc, 48)
        moves = moves_by_index(self.target, code)
        if moves:
            self.steps.update({pc + at: (None, (what, size), False) for at, what, size in moves})
            return self.steps[pc]
        if CACHES.get(int.from_bytes(code[2:4], "little")) == self.target:
            step = None, ([], 8), False
        else:
            try:
                (program, runtime), inst = self.emu._decode_at(pc, self.arch)
            except Exception as error:  # whatever it meets in an instruction that it does not know
                raise EmulatorError(f"{code.hex()}: {str(error).splitlines()[0][:120]}") from error
            name = getattr(getattr(inst, "op", None), "name", "")
            step = runtime.fxn, program.arg.globals, name == "S_BARRIER"
        self.steps[pc] = step
        return step

    def waves(self, entry, local, rsrc2, scratch, user, group, local_memory):
        items = local[0] * local[1] * local[2]
        for start in range(0, items, self.wave):
            state = self.emu._init_wave(entry, start, items, *local, 0, rsrc2, scratch, self.arch, *group, user,
                                        self.wave)
            own = Memory(max(scratch * self.wave, 1))  # a wave's own; work-items keep live values in it
            addresses = [b._buf.va_addr for b in (state.sgpr_buf, state.vgpr_buf)]
            addresses += [0, local_memory, own.address, state.accvgpr_buf._buf.va_addr]
            yield state, own, [ctypes.c_uint64(address) for address in addresses]

    def run_wave(self, state, buffers, deadline):
        """Up to the next barrier (True) or the end (False)."""
        emu, steps = self.emu, self.steps
        registers, low, high = state._sgpr_mv, emu.PC_LO_IDX, emu.PC_HI_IDX
        for n in itertools.count(1):
            pc = registers[low] | registers[high] << 32
            if pc == emu.ENDPGM_PC:
                return False
            function, which, barrier = steps.get(pc) or self.step(pc)
            if function:
                function(*[buffers[i] for i in which])
            else:
                move_by_index(state, self.wave, which[0])
                state.pc = pc + which[1]
            if barrier:
                return True
            if not n & 0x3FFF and time.process_time() > deadline:
                raise EmulatorError("over time")

    def run_group(self, waves, deadline):
        while waves:
            waves = [w for w in waves if self.run_wave(w[0], w[2], deadline)]

    def launch(self, code, name, shape, arguments, seconds):
        """Run a kernel. shape: (dimensions, global, local). arguments: Memory, an int (bytes of local memory), or the
        bytes of a value. Memory is written to.

        What a runtime adds to the arguments stays zero: libclc takes sizes from the dispatch packet, and offsets from
        where code object version 5 has the numbers of groups."""
        kernel, where = code.kernels[name]
        descriptor = code.memory.address + where
        fixed = ctypes.string_at(descriptor, 64)
        local_memory, scratch, _, _, offset = struct.unpack_from("<IIIIq", fixed)
        _, rsrc1, rsrc2, properties, preload = struct.unpack_from("<IIIHH", fixed, 44)
        if preload or rsrc1 >> 16 & 3 != 3 or kernel.get(".uses_dynamic_stack"):
            raise EmulatorError("preloaded arguments, flushed denormals or a dynamic stack")
        dims, items, local = shape
        groups = [g // n for g, n in zip(items, local)]
        passed = bytearray(kernel[".kernarg_segment_size"] + 16)
        given = iter(arguments)
        for row in kernel[".args"]:
            begin, size = row[".offset"], row[".size"]
            if row[".value_kind"].startswith("hidden_"):
                continue
            value = next(given)
            if isinstance(value, Memory):
                value = value.address
            elif isinstance(value, int):
                align = row.get(".pointee_align", 16)
                bytes_of_it, value = value, -(-local_memory // align) * align
                local_memory = value + bytes_of_it
            passed[begin:begin + size] = value if isinstance(value, bytes) else value.to_bytes(size, "little")
        passed = Memory(len(passed), bytes(passed))
        packet = Memory(64, struct.pack("<6H5I", 0, dims, *local, 0, *items, scratch, local_memory))
        user = []
        for bit, words in enumerate(([0] * 4, halves(packet.address), [0, 0], halves(passed.address), [0, 0], [0, 0],
                                     [scratch])):
            user += words if properties >> bit & 1 else []
        room = Memory(max(local_memory, 4))
        deadline = time.process_time() + seconds
        order = list(itertools.product(*(range(g) for g in reversed(groups))))
        for z, y, x in reversed(order) if self.backwards else order:
            room.map[:room.size] = bytes([POISON]) * room.size
            waves = list(self.waves(descriptor + offset, local, rsrc2, scratch, user, (x, y, z), room.address))
            self.run_group(waves[::-1] if self.backwards else waves, deadline)
            if not room.intact():
                raise EmulatorError("a write behind the end of local memory")
        self.steps.clear()  # the next code object may lie at the same addresses


def halves(address):
    return [address & 0xFFFFFFFF, address >> 32]


# ---- each fix against what the ISA documents say -----------------------------------------------------------


def bits_of(number):
    return struct.unpack("<I", struct.pack("<f", number))[0]


def assembled(target, text):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "code")
        subprocess.run(["llvm-mc-19", "-arch=amdgcn", f"-mcpu={target}", "-filetype=obj", "-o", path],
                       input=text + "\ns_endpgm\n", text=True, check=True)
        subprocess.run(["llvm-objcopy-19", "-O", "binary", "-j", ".text", path], check=True)
        with open(path, "rb") as file:
            return file.read()


def executed(emu, target, text, vector, mask=None, local=None):
    """Registers after some instructions: those of work-items, and the mask VCC."""
    machine = Machine(emu, target)
    code = Memory(256, assembled(target, text))
    local = local or Memory(64)
    state, own, buffers = next(machine.waves(code.address, (machine.wave, 1, 1), 0, 0, [], (0, 0, 0), local.address))
    for register, values in vector.items():
        for lane, value in enumerate(values):
            state._write_vgpr(register, lane, value)
    if mask is not None:
        for half in range(machine.wave // 32):
            state._write_sgpr(126 + half, mask >> 32 * half & 0xFFFFFFFF)
    machine.run_wave(state, buffers, time.process_time() + 60)
    vcc = state._read_sgpr(106) | (state._read_sgpr(107) << 32 if machine.wave == 64 else 0)
    return lambda register, lane: state._read_vgpr(register, lane), vcc, own


def check_rndne(emu, target):
    cases = {0.49999997: 0, -0.5: -0.0, 0.5: 0, 1.5: 2, 2.5: 2, -2.5: -2, 8388609: 8388609, -3.7: -4, 1e30: 1e30}
    read, *_ = executed(emu, target, "v_rndne_f32 v1, v0", {0: [bits_of(x) for x in cases]})
    return all(read(1, lane) == bits_of(y) for lane, y in enumerate(cases.values()))


def check_returned_atomics(emu, target):
    word = Memory(64, struct.pack("<I", 40))
    wave = TARGETS[target][1]
    flag = "sc0" if wave == 64 else "glc"
    read, *_ = executed(emu, target, f"global_atomic_add_u32 v3, v[0:1], v2, off {flag}" if wave == 32 else
                        f"global_atomic_add v3, v[0:1], v2, off {flag}",
                        {0: [word.address & 0xFFFFFFFF] * wave, 1: [word.address >> 32] * wave, 2: [1] * wave})
    olds = sorted(read(3, lane) for lane in range(wave))
    return olds == list(range(40, 40 + wave)) and word.bytes()[:4] == struct.pack("<I", 40 + wave)


def check_inactive_memory(emu, target):
    """Of two work-items one is active; the other's address is 3 GiB, where there is no local memory. In a process of
    its own, because a wrong emulator crashes."""
    child = os.fork()
    if child == 0:
        local, names = Memory(64), ("ds_add_rtn_u32", "ds_read_b32" if target == "gfx942" else "ds_load_b32")
        read, *_ = executed(emu, target, f"{names[0]} v2, v0, v1\n{names[1]} v3, v0",
                            {0: [8, 3 << 30], 1: [7, 7], 2: [1, 1], 3: [1, 1]}, 1, local)
        right = [read(r, lane) for r in (2, 3) for lane in (0, 1)] == [0, 1, 7, 1]
        os._exit(0 if right and local.bytes()[8:12] == b"\7\0\0\0" else 1)
    return os.waitpid(child, 0)[1] == 0


def check_carry_mask(emu, target):
    text = "v_add_co_u32 v2, vcc, v0, v1" if target == "gfx942" else \
        "v_mov_b32 v2, 0\nv_add_co_u32 v2, vcc_lo, v0, v1\nv_add_co_ci_u32 v3, vcc_lo, v0, v1, vcc_lo"
    _, vcc, _ = executed(emu, target, text, {0: [0xFFFFFFFF] * 4, 1: [1] * 4}, 0b0101)
    return vcc == 0b0101


def check_sdwa_carry(emu, target):
    if target != "gfx942":
        return True  # gfx11 has no SDWA
    text = "s_mov_b64 vcc, -1\nv_sub_co_u32_sdwa v0, vcc, v0, v1 dst_sel:DWORD src0_sel:DWORD src1_sel:WORD_0"
    read, vcc, _ = executed(emu, target, text, {0: [0, 1, 2] * 21, 1: [0x70001] * 63}, (1 << 60) - 1)
    return vcc == sum(1 << lane for lane in range(0, 60, 3)) and read(0, 0) == 0xFFFFFFFF and read(0, 2) == 1


def check_unaligned(emu, target):
    """Work-items side by side, from each address of a word on; the third is switched off."""
    store, load = ("global_store_dword", "global_load_ushort") if target == "gfx942" else \
        ("global_store_b32", "global_load_u16")
    mask, lanes, right = 0b1011, range(4), True
    for begin in range(4):
        room = Memory(64)
        at = [(room.address & 0xFFFFFFFF) + begin + 4 * lane for lane in lanes]
        read, *_ = executed(emu, target, f"{store} v[0:1], v2, off\ns_waitcnt vmcnt(0)\n{load} v3, v[0:1], off offset:1",
                            {0: at, 1: [room.address >> 32] * 4, 2: [0x04030201 * (lane + 1) for lane in lanes],
                             3: [7] * 4}, mask)
        words = [bytes((lane + 1) * k if mask >> lane & 1 else 0 for k in (1, 2, 3, 4)) for lane in lanes]
        right = right and room.bytes() == (bytes(begin) + b"".join(words)).ljust(64, b"\0") and all(
            read(3, lane) == (0x0302 * (lane + 1) if mask >> lane & 1 else 7) for lane in lanes)
    return right


def check_index(emu, target):
    """Not of a fix: registers by an index."""
    read_at, write_at = ("v_movrels_b32 v8, v1", "v_movreld_b32 v4, v0")
    text = f"s_mov_b32 m0, 2\n{read_at}\n{write_at}" if target == "gfx1100" else \
        "s_mov_b32 s7, 2\ns_set_gpr_idx_on s7, gpr_idx(SRC0)\nv_mov_b32 v8, v1\ns_set_gpr_idx_off\n" \
        "s_set_gpr_idx_on s7, gpr_idx(DST)\nv_mov_b32 v4, v0\ns_set_gpr_idx_off"
    read, *_ = executed(emu, target, text, {0: [9, 8, 7], 3: [1, 2, 3], 8: [5, 5, 5], 6: [4, 4, 4]}, 0b101)
    return [read(r, lane) for r in (8, 6) for lane in range(3)] == [1, 5, 3, 9, 4, 7]


CHECKS = (check_rndne, check_returned_atomics, check_inactive_memory, check_carry_mask, check_sdwa_carry,
          check_unaligned)


def check(path):
    """(fix, target, right before it, right after) for each."""
    def outcome(emu):
        return [run(emu, target) for run in CHECKS for target in TARGETS]

    before = outcome(load(path, ()))
    mended = load(path)
    names = [(fix.__name__[4:].replace("_", " "), target) for fix in FIXES for target in TARGETS]
    return [(*name, b, a) for name, b, a in zip(names, before, outcome(mended))] + \
        [("index, not a fix", target, False, check_index(mended, target)) for target in TARGETS]


def fixes_explained():
    return {fix.__name__[4:].replace("_", " "): " ".join(fix.__doc__.split()) for fix in FIXES}
