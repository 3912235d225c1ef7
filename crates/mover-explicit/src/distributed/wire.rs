//! Numbers as bytes, and back again.
//!
//! A number takes as many bytes as it needs, seven bits in each. Whatever comes from another process is checked
//! while it is read: no count is believed that the bytes behind it cannot hold, and nothing may be left over.

/// What another process sent has no meaning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Corrupt;

#[derive(Default)]
pub struct Encoder(pub Vec<u8>);

impl Encoder {
    #[inline]
    pub fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    /// A number that there need not be.
    pub fn optional(&mut self, number: Option<u32>) {
        self.number(number.map_or(0, |number| 1 + u64::from(number)));
    }

    pub fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
    }
}

pub struct Decoder<'a>(pub &'a [u8]);

impl Decoder<'_> {
    #[inline]
    pub fn number(&mut self) -> Result<u64, Corrupt> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.0.split_first().ok_or(Corrupt)?;
            self.0 = rest;
            let bits = u64::from(byte & 0x7F);
            if bits << shift >> shift != bits {
                return Err(Corrupt);
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(Corrupt)
    }

    pub fn small(&mut self) -> Result<u32, Corrupt> {
        u32::try_from(self.number()?).map_err(|_| Corrupt)
    }

    pub fn flag(&mut self) -> Result<bool, Corrupt> {
        match self.number()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Corrupt),
        }
    }

    pub fn optional(&mut self) -> Result<Option<u32>, Corrupt> {
        match self.number()? {
            0 => Ok(None),
            number => u32::try_from(number - 1).map(Some).map_err(|_| Corrupt),
        }
    }

    /// How many things follow, each of which takes a byte at least.
    pub fn count(&mut self) -> Result<usize, Corrupt> {
        let count = usize::try_from(self.number()?).map_err(|_| Corrupt)?;
        match count <= self.0.len() {
            true => Ok(count),
            false => Err(Corrupt),
        }
    }

    /// A number below a limit.
    pub fn count_below(&mut self, limit: usize) -> Result<usize, Corrupt> {
        let number = usize::try_from(self.number()?).map_err(|_| Corrupt)?;
        match number < limit {
            true => Ok(number),
            false => Err(Corrupt),
        }
    }

    pub fn text(&mut self) -> Result<String, Corrupt> {
        let length = self.count()?;
        let (text, rest) = self.0.split_at(length);
        self.0 = rest;
        String::from_utf8(text.to_vec()).map_err(|_| Corrupt)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Nothing may be left over.
    pub fn end(&self) -> Result<(), Corrupt> {
        match self.is_empty() {
            true => Ok(()),
            false => Err(Corrupt),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_were_written() {
        let numbers = [
            0,
            1,
            127,
            128,
            300,
            u64::from(u32::MAX),
            u64::MAX - 1,
            u64::MAX,
        ];
        let mut encoder = Encoder::default();
        numbers.iter().for_each(|&number| encoder.number(number));
        encoder.optional(Some(u32::MAX));
        encoder.optional(None);
        encoder.text("a text");
        let mut decoder = Decoder(&encoder.0);
        for number in numbers {
            assert_eq!(decoder.number(), Ok(number));
        }
        assert_eq!(decoder.optional(), Ok(Some(u32::MAX)));
        assert_eq!(decoder.optional(), Ok(None));
        assert_eq!(decoder.text().as_deref(), Ok("a text"));
        assert_eq!(decoder.end(), Ok(()));
    }

    #[test]
    fn what_has_no_meaning_is_refused() {
        // The end is missing, a number is too large, a count too high.
        assert_eq!(Decoder(&[0x80]).number(), Err(Corrupt));
        assert_eq!(Decoder(&[0xFF; 11]).number(), Err(Corrupt));
        let mut above = [0xFF; 10];
        above[9] = 2;
        assert_eq!(Decoder(&above).number(), Err(Corrupt));
        assert_eq!(Decoder(&[3, 0, 0]).count(), Err(Corrupt));
        assert_eq!(Decoder(&[1, 0xFF]).text(), Err(Corrupt));
        assert_eq!(Decoder(&[2]).flag(), Err(Corrupt));
        assert_eq!(Decoder(&[0]).end(), Err(Corrupt));
    }
}
