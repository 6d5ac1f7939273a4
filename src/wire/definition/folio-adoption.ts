import type { FolioAdoption } from '../../sheet/folio/adopt-folio-sheet.ts'

/** The output of `colophon init --from-folio`. */
export interface FolioAdoptionWire {
  readonly sheet: string
  /** Whether the sheet was created; false with `--check`. */
  readonly created: boolean
  readonly records: number
  readonly cells: FolioAdoption['cells']
  readonly differences: FolioAdoption['differences']
}

/** Converts the report of an adoption to the wire format; `sheet` is the directory as it was given. */
export function toFolioAdoptionWire(
  sheet: string,
  { records, cells, differences, check }: FolioAdoption & { readonly check: boolean },
): FolioAdoptionWire {
  return { sheet, created: !check, records, cells, differences }
}
