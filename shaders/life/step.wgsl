// One generation of a life-like rule on a torus, 32 cells an invocation.
//
// Cells are bits: cell x of a row is bit x % 32 of the row's word x / 32, and the bits behind the
// last cell of a row are zero. Neighbours are counted by adding bits sideways: bit i of four words
// together is the count of cell i, so a word costs about as much as one cell would.

struct Step {
    // Size of the board, in cells.
    width: u32,
    height: u32,
    // Bit n: a dead cell with n live neighbours is born, a live one survives.
    birth: u32,
    survival: u32,
}

// 32 cells of a row, and those beside them to the west and to the east.
struct Cells {
    west: u32,
    here: u32,
    east: u32,
}

// A binary number per bit: two digits, worth 1 and 2.
struct Sum {
    ones: u32,
    twos: u32,
}

@group(0) @binding(0) var<storage, read> current: array<u32>;
@group(0) @binding(1) var<storage, read_write> next: array<u32>;
var<immediate> step: Step;

fn load(row: u32, word: u32, last_word: u32) -> Cells {
    let first = row * (last_word + 1u);
    // The bit of the row's last cell in the row's last word, where the torus closes.
    let last_bit = (step.width - 1u) % 32u;
    let here = current[first + word];
    var before: u32;
    if word == 0u {
        before = (current[first + last_word] >> last_bit) & 1u;
    } else {
        before = current[first + word - 1u] >> 31u;
    }
    var after: u32;
    if word == last_word {
        after = (current[first] & 1u) << last_bit;
    } else {
        after = current[first + word + 1u] << 31u;
    }
    return Cells((here << 1u) | before, here, (here >> 1u) | after);
}

fn add(a: u32, b: u32, c: u32) -> Sum {
    return Sum(a ^ b ^ c, (a & b) | (c & (a ^ b)));
}

// All ones where `mask` has the bit, else zero.
fn spread(mask: u32, bit: u32) -> u32 {
    return 0u - ((mask >> bit) & 1u);
}

@compute @workgroup_size(32, 4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let last_word = (step.width - 1u) / 32u;
    let word = id.x;
    let row = id.y;
    if word > last_word || row >= step.height {
        return;
    }

    let above = load(select(row - 1u, step.height - 1u, row == 0u), word, last_word);
    let middle = load(row, word, last_word);
    let below = load(select(row + 1u, 0u, row == step.height - 1u), word, last_word);

    let above_sum = add(above.west, above.here, above.east);
    let middle_sum = Sum(middle.west ^ middle.east, middle.west & middle.east);
    let below_sum = add(below.west, below.here, below.east);
    let ones = add(above_sum.ones, middle_sum.ones, below_sum.ones);
    let twos = add(above_sum.twos, middle_sum.twos, below_sum.twos);
    // The digits of the count, worth 1, 2, 4 and 8.
    let digit_1 = ones.ones;
    let digit_2 = twos.ones ^ ones.twos;
    let carry = twos.ones & ones.twos;
    let digit_4 = twos.twos ^ carry;
    let digit_8 = twos.twos & carry;

    var alive = 0u;
    for (var count = 0u; count <= 8u; count++) {
        let equal = ~(digit_1 ^ spread(count, 0u)) & ~(digit_2 ^ spread(count, 1u))
            & ~(digit_4 ^ spread(count, 2u)) & ~(digit_8 ^ spread(count, 3u));
        let born = ~middle.here & spread(step.birth, count);
        let surviving = middle.here & spread(step.survival, count);
        alive |= equal & (born | surviving);
    }
    if word == last_word {
        alive &= 0xffffffffu >> (31u - (step.width - 1u) % 32u);
    }
    next[row * (last_word + 1u) + word] = alive;
}
