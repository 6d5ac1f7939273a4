import type { Contract } from '../../../contract/contract.ts'
import type { JsonObject } from '../../../contract/json/json.ts'
import type { YamlEdit } from '../../../contract/yaml/edit/yaml-edit.ts'
import { showValue } from '../../../contract/json/show-value.ts'
import { err, ok, type Result } from '../../../errors/result.ts'
import type {
  Computed,
  DerivationKind,
  InputValues,
  LookedUpTable,
  ParseContext,
  ParsedSpec,
  Plan,
  Planned,
  RenameContext,
  Source,
} from '../../definition/derivation-kind.ts'
import { renameInKeys, renameInNames } from '../../definition/rename-edits.ts'
import { parseLookup, type LookupKeys } from './lookup-spec.ts'
import { keyText, type Table, type TableReader } from './table.ts'

/** A file of a look-up, with its table once that is read. */
export interface LookupSpec extends LookupKeys {
  readonly contract: Contract
  readonly table: Result<Table, string>
}

interface LookupPlan extends Plan {
  /** The path of the file or sheet, and the values of the matched row by target: null if no row has the key. */
  readonly hashed: { readonly [member: string]: string | JsonObject | null }
}

/** A location of tables, and the kind that reads it. */
export interface LookupPlace {
  readonly kind: string
  /** The key of a file with the path of the table. */
  readonly key: string
  readonly type: 'file' | 'sheet'
  /** The member of hash and evidence that has the path. */
  readonly member: string
}

/** `import` looks into files of the sheet, `cross_sheet` into other sheets. */
export const LOOKUP_PLACES = {
  file: { kind: 'import', key: 'source', type: 'file', member: 'table' },
  sheet: { kind: 'cross_sheet', key: 'source_sheet', type: 'sheet', member: 'sheet' },
} as const satisfies Readonly<Record<string, LookupPlace>>

/** Tables of a source that are in use, by the columns that were read. */
type Tables = Map<string, Promise<Result<Table, string>>>

/**
 * Looks values up in a table: a file inside the sheet, or the records of another sheet. The input hash covers the values of the matched row, so
 * that an edited row makes the cells that match it stale, and no others.
 */
export class LookupKind implements DerivationKind<LookupSpec, LookupPlan> {
  readonly name: string
  readonly isLocal = true
  readonly needsListedInputs = false
  readonly readsListedInputs = false
  readonly #place: LookupPlace
  readonly #read: TableReader
  /** Sources that did not change are not read again. */
  readonly #tables = new WeakMap<Source, Tables>()

  constructor(read: TableReader, place: LookupPlace = LOOKUP_PLACES.file) {
    this.name = place.kind
    this.#place = place
    this.#read = read
  }

  parse(file: JsonObject, targets: readonly string[], context: ParseContext): ParsedSpec<LookupSpec> {
    const { type } = this.#place
    const keys = parseLookup(file, targets, { ...context, place: this.#place })
    const { match } = keys.columns
    return {
      spec: { ...keys, contract: context.contract, table: err(`${keys.source} was not read`) },
      usedFields: [match],
      requiredFields: [match],
      resources: [{ type, name: keys.source }],
      [type === 'file' ? 'sources' : 'sheets']: [keys.source],
    }
  }

  /** Columns of the table keep their names. */
  renameField(file: JsonObject, rename: RenameContext): readonly YamlEdit[] {
    return [...renameInNames(file, 'match', rename), ...renameInKeys(file, 'value_fields', rename)]
  }

  async withSources(spec: LookupSpec, [source]: readonly Source[]): Promise<LookupSpec> {
    if (source === undefined) return spec
    const { columns, contract } = spec
    const tables: Tables = this.#tables.get(source) ?? new Map()
    this.#tables.set(source, tables)
    // The types of the values are those of the contract.
    const wanted = JSON.stringify([columns, contract.text])
    const reading = tables.get(wanted) ?? this.#read(source, columns, contract)
    tables.set(wanted, reading)
    let isRead = false
    try {
      const table = await reading
      isRead = table.ok
      return { ...spec, table }
    } finally {
      // What could not be read is tried again, should the derivations be read again.
      if (!isRead) tables.delete(wanted)
    }
  }

  sourceFault({ table }: LookupSpec): { readonly key: string; readonly message: string } | null {
    return table.ok ? null : { key: this.#place.key, message: table.error }
  }

  tableOf({ source, columns }: LookupSpec): LookedUpTable {
    return { resource: { type: this.#place.type, name: source }, ...columns }
  }

  prepare(): void {}

  plan(spec: LookupSpec, inputs: InputValues): Planned<LookupPlan> {
    const { source, columns, table, whenMissing } = spec
    const value = inputs[columns.match] ?? null
    if (value === null) return { outcome: 'blocked', field: columns.match }
    const key = keyText(value)
    const request = `${source}, ${columns.key} ${showValue(value)}`
    const failed = (detail: string): Planned<LookupPlan> => ({
      outcome: 'failed',
      failure: { reason: 'computation', request, detail },
    })
    if (!table.ok) return failed(table.error)
    const row = key === null ? undefined : table.value.get(key)
    if (row !== undefined && row.count > 1) return failed(`${row.count} rows have this key; keep one`)
    if (row === undefined && whenMissing === 'fail') return failed('no row has this key')
    if (row === undefined && whenMissing === 'skip') return { outcome: 'skipped' }
    const values = row?.values ?? null
    // The log proves with the evidence which row was hashed, once the table is another one.
    const hashed = { [this.#place.member]: source, row: values }
    return { outcome: 'run', plan: { request, hashed, evidence: hashed } }
  }

  estimate(): number {
    return 0
  }

  async run({ columns }: LookupSpec, { hashed }: LookupPlan): Promise<Result<Computed, never>> {
    const row = hashed['row'] as JsonObject | null
    const targets = Object.keys(columns.values)
    return ok({
      values: Object.fromEntries(targets.map((target) => [target, ok(row?.[target] ?? null)])),
      evidence: {},
    })
  }
}
