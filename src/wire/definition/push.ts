import type { Changes, PushReport } from '../../sheet/lifecycle/push-sheet.ts'

/** What a push does to a derived field. */
export interface PushedDerivationWire {
  readonly field: string
  readonly file: string
  readonly change: 'added' | 'changed' | 'removed'
  /** How many more cells are stale, and how many more are missing, than before. */
  readonly stale: number
  readonly missing: number
}

/** What `colophon push` says. */
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

/** The report of a push on the wire. */
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
