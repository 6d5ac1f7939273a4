import type { Changes, PushReport } from '../../sheet/lifecycle/push-sheet.ts'

/** The effect of a push on a derived field. */
export interface PushedDerivationWire {
  readonly field: string
  readonly file: string
  readonly change: 'added' | 'changed' | 'removed'
  /** The number of cells that the push makes stale, and the number that it adds as missing. */
  readonly stale: number
  readonly missing: number
}

/** The output of `colophon push`. */
export interface PushWire {
  readonly sheet: string
  readonly revision: number
  readonly before: number | null
  readonly dry_run: boolean
  readonly created: boolean
  readonly records: number
  readonly files: Changes
  readonly fields: Changes
  readonly derivations: readonly PushedDerivationWire[]
}

/** Converts the report of a push to the wire format. */
export function toPushWire({ dryRun, derivations, ...report }: PushReport): PushWire {
  return {
    sheet: report.sheet,
    revision: report.revision,
    before: report.before,
    dry_run: dryRun,
    created: report.created,
    records: report.records,
    files: report.files,
    fields: report.fields,
    derivations: derivations.map(({ derivation, ...change }) => ({ ...change, file: derivation })),
  }
}
