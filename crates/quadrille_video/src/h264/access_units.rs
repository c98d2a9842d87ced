//! Access units of byte streams (clause 7.4.1.2.4): the slices of one picture, and the units before them.

use std::ops::Range;

use h264_reader::Context;
use h264_reader::nal::pps::PicParameterSet;
use h264_reader::nal::slice::SliceHeader;
use h264_reader::nal::sps::SeqParameterSet;
use h264_reader::nal::{Nal as _, NalHeader, RefNal, UnitType};

use crate::coding::AccessUnits;

/// Syntax elements that differ between neighbouring pictures.
type PictureKey = (u16, u8, bool, Option<u32>, String);

/// Splits a byte stream at its NAL units.
pub(crate) fn split(bytes: &[u8], units: impl Iterator<Item = Range<usize>>) -> AccessUnits {
    let mut context = Context::new();
    let mut found = AccessUnits::default();
    // Type and id of the sets.
    let mut known: Vec<(UnitType, u8)> = Vec::new();
    // Begin of the current unit, and the key and kind of its first slice.
    let mut begin: Option<usize> = None;
    let mut current: Option<(PictureKey, bool)> = None;
    let mut end = 0;
    for range in units {
        let unit = &bytes[range.clone()];
        let nal = RefNal::new(unit, &[], true);
        let Ok(header) = nal.header() else { continue };
        let code = range.start.saturating_sub(3);
        let kind = header.nal_unit_type();
        let mut slice = None;
        let mut set = None;
        let starts = match kind {
            UnitType::SeqParameterSet => {
                if let Ok(sps) = SeqParameterSet::from_bits(nal.rbsp_bits()) {
                    let rate = sps.fps().filter(|it| (0.01..=1000.0).contains(it));
                    found.rate = found.rate.or(rate);
                    set = Some((kind, sps.seq_parameter_set_id.id()));
                    context.put_seq_param_set(sps);
                }
                true
            }
            UnitType::PicParameterSet => {
                if let Ok(pps) = PicParameterSet::from_bits(&context, nal.rbsp_bits()) {
                    set = Some((kind, pps.pic_parameter_set_id.id()));
                    context.put_pic_param_set(pps);
                }
                true
            }
            UnitType::AccessUnitDelimiter | UnitType::SEI => true,
            UnitType::SliceLayerWithoutPartitioningIdr
            | UnitType::SliceLayerWithoutPartitioningNonIdr => {
                slice = picture_key(&context, &nal, header);
                let differs =
                    |(key, _): &(PictureKey, bool)| current.as_ref().is_some_and(|it| it.0 != *key);
                slice.as_ref().is_some_and(differs)
            }
            _ => false,
        };
        if let Some(set) = set.filter(|set| !known.contains(set)) {
            known.push(set);
            found.sets.push(unit.to_vec());
        }
        if starts && let Some((_, is_idr)) = current.take() {
            found
                .pictures
                .push((begin.take().unwrap_or(0)..end, is_idr));
        }
        begin = begin.or(Some(code));
        current = current.or(slice);
        end = range.end;
    }
    if let Some((_, is_idr)) = current {
        found.pictures.push((begin.unwrap_or(0)..end, is_idr));
    }
    found
}

/// Key of the picture that a slice belongs to, and whether it is an instantaneous decoding refresh.
fn picture_key(
    context: &Context,
    nal: &RefNal<'_>,
    header: NalHeader,
) -> Option<(PictureKey, bool)> {
    let parsed = SliceHeader::from_bits(context, &mut nal.rbsp_bits(), header, None);
    let (slice, _, pps) = parsed.ok()?;
    let key = (
        slice.frame_num,
        pps.pic_parameter_set_id.id(),
        header.nal_ref_idc() != 0,
        slice.idr_pic_id,
        format!("{:?}", slice.pic_order_cnt_lsb),
    );
    Some((key, slice.idr_pic_id.is_some()))
}
