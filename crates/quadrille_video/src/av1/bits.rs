//! Bits of an OBU (AV1 specification, sections 4.10 and 8.1).

/// Result of parsing. The error is a text.
pub(crate) type Parsed<T> = Result<T, String>;

/// Reader of bits, most significant first.
#[derive(Clone, Debug)]
pub(crate) struct Bits<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Bits<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Bytes that were begun.
    pub(crate) fn bytes_read(&self) -> usize {
        self.at.div_ceil(8)
    }

    /// Reads one bit.
    pub(crate) fn flag(&mut self) -> Parsed<bool> {
        let byte = self.bytes.get(self.at / 8);
        let byte = byte.ok_or_else(|| "it ends too early".to_owned())?;
        let bit = byte >> (7 - self.at % 8) & 1;
        self.at += 1;
        Ok(bit == 1)
    }

    /// Reads a flag if a condition holds; otherwise it is false.
    pub(crate) fn flag_if(&mut self, condition: bool) -> Parsed<bool> {
        match condition {
            true => self.flag(),
            false => Ok(false),
        }
    }

    /// Reads an unsigned number of at most 32 bits, `f(n)`.
    pub(crate) fn f(&mut self, bits: u32) -> Parsed<u32> {
        let mut value = 0_u32;
        for _ in 0..bits {
            value = (value << 1) | u32::from(self.flag()?);
        }
        Ok(value)
    }

    /// Reads an unsigned number of at most 8 bits.
    pub(crate) fn f_8(&mut self, bits: u32) -> Parsed<u8> {
        Ok(self.f(bits)? as u8)
    }

    /// Reads a signed number of at most 16 bits, `su(n)`.
    pub(crate) fn su(&mut self, bits: u32) -> Parsed<i16> {
        let value = self.f(bits)? as i32;
        let sign = 1 << (bits - 1);
        Ok(((value & (sign - 1)) - (value & sign)) as i16)
    }

    /// Reads a number below `most`, `ns(n)` (section 4.10.7).
    pub(crate) fn ns(&mut self, most: u32) -> Parsed<u32> {
        let Some(log2) = most.checked_ilog2() else {
            return Err("a range is empty".to_owned());
        };
        let width = log2 + 1;
        let short = (1_u32 << width).wrapping_sub(most);
        let value = self.f(width - 1)?;
        if value < short {
            return Ok(value);
        }
        Ok((value << 1) - short + u32::from(self.flag()?))
    }

    /// Reads a code of variable length, `uvlc()` (section 4.10.3).
    pub(crate) fn uvlc(&mut self) -> Parsed<u32> {
        let mut zeros = 0;
        while !self.flag()? {
            zeros += 1;
            if zeros == 32 {
                return Ok(u32::MAX);
            }
        }
        Ok((1 << zeros) - 1 + self.f(zeros)?)
    }

    /// Skips bits.
    pub(crate) fn skip(&mut self, bits: u32) -> Parsed<()> {
        (0..bits).try_for_each(|_| self.flag().map(|_| ()))
    }
}
