//! Bits of a NAL unit (ITU-T H.265, clause 9.2), without its emulation prevention bytes (clause 7.3.1.1).

/// Result of parsing. The error is a text.
pub(crate) type Parsed<T> = Result<T, String>;

/// Reader of the payload of a NAL unit.
#[derive(Clone, Debug)]
pub(crate) struct Bits<'a> {
    /// Bytes behind the current one.
    rest: &'a [u8],
    current: u8,
    /// Bits of the current byte that are not read yet.
    left: u32,
    /// Zero bytes before the next one.
    zeros: u32,
    /// Number of bits that were read.
    read: usize,
}

impl<'a> Bits<'a> {
    /// Begins behind the header of a NAL unit.
    pub(crate) fn new(payload: &'a [u8]) -> Self {
        Self {
            rest: payload,
            current: 0,
            left: 0,
            zeros: 0,
            read: 0,
        }
    }

    /// Number of bits that were read.
    pub(crate) fn position(&self) -> usize {
        self.read
    }

    /// Reads one bit.
    pub(crate) fn flag(&mut self) -> Parsed<bool> {
        if self.left == 0 {
            self.next_byte()?;
        }
        self.left -= 1;
        self.read += 1;
        Ok((self.current >> self.left) & 1 == 1)
    }

    fn next_byte(&mut self) -> Parsed<()> {
        let mut take = || {
            let (first, rest) = self.rest.split_first()?;
            self.rest = rest;
            Some(*first)
        };
        let ended = || "it ends too early".to_owned();
        let mut byte = take().ok_or_else(ended)?;
        if self.zeros >= 2 && byte == 3 {
            byte = take().ok_or_else(ended)?;
            self.zeros = 0;
        }
        self.zeros = if byte == 0 { self.zeros + 1 } else { 0 };
        self.current = byte;
        self.left = 8;
        Ok(())
    }

    /// Reads an unsigned number of at most 32 bits.
    pub(crate) fn u(&mut self, bits: u32) -> Parsed<u32> {
        let mut value = 0_u32;
        for _ in 0..bits {
            value = (value << 1) | u32::from(self.flag()?);
        }
        Ok(value)
    }

    /// Skips bits.
    pub(crate) fn skip(&mut self, bits: u32) -> Parsed<()> {
        (0..bits).try_for_each(|_| self.flag().map(|_| ()))
    }

    /// Reads an Exp-Golomb code of at most 32 bits.
    fn golomb(&mut self) -> Parsed<u32> {
        let mut zeros = 0;
        while !self.flag()? {
            zeros += 1;
            if zeros > 31 {
                return Err("a code has more than 32 bits".to_owned());
            }
        }
        Ok((1 << zeros) - 1 + self.u(zeros)?)
    }

    /// Reads an unsigned Exp-Golomb code, `ue(v)`, up to a maximum.
    pub(crate) fn ue(&mut self, name: &str, max: u32) -> Parsed<u32> {
        let value = self.golomb()?;
        if value > max {
            return Err(format!("`{name}` is {value}, more than {max}"));
        }
        Ok(value)
    }

    /// Reads an unsigned Exp-Golomb code of at most a byte.
    pub(crate) fn ue_8(&mut self, name: &str, max: u8) -> Parsed<u8> {
        Ok(self.ue(name, u32::from(max))? as u8)
    }

    /// Reads a signed Exp-Golomb code, `se(v)`, within a range of bytes.
    pub(crate) fn se(&mut self, name: &str, range: std::ops::RangeInclusive<i16>) -> Parsed<i16> {
        let code = i64::from(self.golomb()?);
        let value = if code % 2 == 1 {
            (code + 1) / 2
        } else {
            -code / 2
        };
        match i16::try_from(value) {
            Ok(value) if range.contains(&value) => Ok(value),
            _ => Err(format!("`{name}` is {value}, which is not in {range:?}")),
        }
    }
}
