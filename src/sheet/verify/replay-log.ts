import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json/json.ts'
import { showValue } from '../../contract/json/show-value.ts'
import { erasedFields } from '../../provenance/erased-line.ts'
import { hasRows, linesOfRecords } from '../../provenance/imported-records.ts'
import { isImportLine } from '../../provenance/log-line.ts'
import { importedChange, MOST_CHANGES } from '../../store/fields/stored-changes.ts'
import { sameValue } from '../../store/same-value.ts'
import { hashFile, memberOf, textLines } from '../../store/sheet-files/import-lines.ts'
import { convertedValues } from './converted-values.ts'
import { parsedObject } from './parsed-object.ts'
import type { Differences } from './differences.ts'
import {
  ReplayedFields,
  type ColumnConversion,
  type ConvertedColumn,
  type ReplayedColumn,
} from './replayed-fields.ts'
import { ReplayedRecords, type ReplayedRecord } from './replayed-records.ts'

/** The values that a cell can have by the lines so far; or that any is possible, since its imported file is not at hand. */
export type PossibleValues = readonly JsonValue[] | 'imported'

/** An import whose file is not at hand: the values of its records are not known until a line changes them. */
export interface UnknownImport {
  readonly seq: number
  readonly file: string
  readonly sha256: string
  /** Those of its records that no line has deleted. */
  records: number
  /** Those of its records that a line has named. */
  named: number
}

/**
 * Replays the lines of a log, one after the other, and compares what each says of the time before with what the lines before it have left. Values
 * that a conversion made are compared with those that it can have made.
 */
export class LogReplay {
  readonly fields = new ReplayedFields()
  readonly records = new ReplayedRecords()
  readonly #differences: Differences
  readonly #source: string | null
  #created = 0
  #unplaced = 0
  #lines = 0
  #import: UnknownImport | null = null
  /** Values that conversions have lost, by the keys of the columns before the first of them. */
  readonly #lost = new Map<string, number>()

  /** Results of {@link possible} by record and column: conversions of conversions ask for the same again and again. */
  readonly #possible = new WeakMap<ReplayedRecord, Map<string, PossibleValues>>()
  #changes = 0

  /** The keys of the columns that {@link #countUnfit} has noted. */
  readonly #exact = new Set<string>()

  /** `source` is the file that the records were imported from, or null for none: used where it has the hash of the log. */
  constructor(differences: Differences, source: string | null) {
    this.#differences = differences
    this.#source = source
  }

  /** The import whose file was not at hand; null for none. */
  get unknownImport(): UnknownImport | null {
    return this.#import
  }

  add(line: JsonObject): void {
    this.#lines += 1
    const { source, field, record_id: id, values } = line
    const seq = Number(line['seq'])
    if (source === 'erase' && typeof id === 'string' && isJsonObject(values)) this.#erase(values, id)
    else if (hasRows(line)) this.#importRecords(line, seq)
    else if (isImportLine(line)) this.#importFile(line, seq)
    else if (source === 'contract') this.#changeFields(line, seq)
    else if (typeof id !== 'string') this.#differences.line(seq, UNKNOWN_KIND)
    else if (source === 'review') this.#review(line, { seq, id })
    // It changes no value.
    else if (source === 'proposal') return
    else if (typeof field === 'string') {
      const changes = [{ field, value: line['value'] ?? null, previous: line['previous'] ?? null }]
      this.#write(withoutErased(line, changes), { seq, id })
    } else if (isJsonObject(values)) this.#addRecordLine(line, { seq, id, values })
    else this.#differences.line(seq, UNKNOWN_KIND, { recordId: id })
  }

  /** Compares the numbers of values that conversions have lost with those that their lines have. Call it when the records were compared. */
  finish(): void {
    const chains = Map.groupBy(this.fields.conversions, (column) => this.fields.firstOf(column).key)
    for (const [first, columns] of chains) {
      const found = this.#lost.get(first) ?? 0
      const { key, conversion } = columns.at(-1) as (typeof columns)[number]
      let lost = 0
      for (const column of columns) lost += column.conversion.lost ?? Infinity
      if (found <= lost) continue
      const field = this.fields.nameOf(key)
      const message = `with the conversions before it, ${counted(lost)} of this field, and ${found} are missing`
      this.#differences.line(conversion.seq, message, { field })
    }
  }

  close(): void {
    this.records.close()
  }

  /** Whether all values of a record are those that it has here, under the names of their fields. */
  isPlain({ imported }: Omit<ReplayedRecord, 'values'>): boolean {
    return this.fields.areUnchanged && !imported
  }

  /** Returns the values that a cell can have now; with `lossless` those that it can have where no conversion has lost it. */
  possible(record: ReplayedRecord, column: ReplayedColumn, { lossless = false } = {}): PossibleValues {
    const known = this.#possible.get(record) ?? new Map<string, PossibleValues>()
    this.#possible.set(record, known)
    const placeOf = ({ key }: ReplayedColumn): string => `${lossless} ${key}`
    // From the first conversion on: a field can have been converted very often.
    const chain: ReplayedColumn[] = []
    for (let one: ReplayedColumn | undefined = column; one !== undefined; one = one.conversion?.from) {
      if (known.has(placeOf(one))) break
      chain.push(one)
    }
    for (const one of chain.toReversed()) known.set(placeOf(one), this.#computed(record, one, lossless))
    return known.get(placeOf(column)) ?? EMPTY
  }

  #computed(
    record: ReplayedRecord,
    { key, conversion, since }: ReplayedColumn,
    lossless: boolean,
  ): PossibleValues {
    if (Object.hasOwn(record.values, key)) return [record.values[key] ?? null]
    if (conversion !== null && record.created < conversion.seq)
      return this.#converted(record, { key, conversion }, { lossless })
    if (record.imported && since <= record.created) return 'imported'
    return EMPTY
  }

  /** Whether a cell can have a value now. Counts the values that conversions have lost: call it once for each cell that no line changes later. */
  accepts(record: ReplayedRecord, column: ReplayedColumn, value: JsonValue): boolean {
    const values = this.possible(record, column)
    if (typeof values === 'string') return true
    if (!values.some((one) => sameValue(one, value))) return false
    if (value === null && column.conversion !== null) this.#countLost(record, column)
    return true
  }

  /** Counts a value that conversions have lost: one that is null, although none of them makes that of the value before. */
  #countLost(record: ReplayedRecord, column: ReplayedColumn): void {
    const values = this.possible(record, column, { lossless: true })
    if (typeof values === 'string' || values.includes(null)) return
    const { key } = this.fields.firstOf(column)
    this.#lost.set(key, (this.#lost.get(key) ?? 0) + 1)
  }

  #converted(
    record: ReplayedRecord,
    { key, conversion }: Pick<ConvertedColumn, 'key' | 'conversion'>,
    { lossless }: { readonly lossless: boolean },
  ): PossibleValues {
    const values = this.possible(record, conversion.from, { lossless })
    if (typeof values === 'string') return values
    const made = this.#made(record, conversion, values)
    if (typeof made === 'string' || lossless) return made
    const canLose = !this.#isExact({ key, conversion }) && values.some((value) => value !== null)
    return canLose || made.length === 0 ? distinct([...made, null]) : made
  }

  /** Returns the values that a conversion makes of others. */
  #made(
    record: ReplayedRecord,
    { from, before, type, earlier, lost }: ColumnConversion,
    values: readonly JsonValue[],
  ): PossibleValues {
    const found: JsonValue[] = []
    for (const column of earlier) {
      const back = this.possible(record, column)
      if (typeof back === 'string') return back
      found.push(...back.filter((one) => one !== null && this.#isBack(one, { from, before, type }, values)))
      // What is known to be back is not converted; the contract can refuse it by now.
      if (lost !== null && [back, values, found].every(({ length }) => length === 1))
        return values[0] === null ? [...found, null] : found
    }
    for (const value of values)
      found.push(...(value === null ? EMPTY : convertedValues({ before, type }, value)))
    return distinct(found)
  }

  /** Whether a conversion that is taken back has made one of some values of an earlier one. */
  #isBack(
    earlier: JsonValue,
    { from, before, type }: Pick<ColumnConversion, 'from' | 'before' | 'type'>,
    values: readonly JsonValue[],
  ): boolean {
    const made = convertedValues({ before: type, type: before }, earlier).filter((value) => value !== null)
    return values.some((value) =>
      value === null ? made.length === 0 || !this.#isExact(from) : made.some((one) => sameValue(one, value)),
    )
  }

  /** Whether a column lost only values that fit no value of its type. */
  #isExact({ key, conversion }: ReplayedColumn | Pick<ConvertedColumn, 'key' | 'conversion'>): boolean {
    return conversion === null || conversion.lost === 0 || this.#exact.has(key)
  }

  #importFile(line: JsonObject, seq: number): void {
    const { file, sha256, records } = line
    if (typeof file !== 'string' || typeof sha256 !== 'string' || typeof records !== 'number') {
      this.#differences.line(seq, UNKNOWN_KIND)
    } else if (this.#lines > 1) {
      this.#differences.line(seq, 'an import that is not the first line of the store')
    } else if (this.#source === null || hashFile(this.#source) !== sha256) {
      this.#import = { seq, file, sha256, records, named: 0 }
    } else {
      this.#readImported(this.#source, { seq, count: records })
    }
  }

  #importRecords(line: JsonObject, seq: number): void {
    const lines = linesOfRecords(line)
    if (lines.length !== line['records']) this.#differences.line(seq, UNKNOWN_KIND)
    for (const { record_id: id, values, previous } of lines) {
      if (typeof id === 'string' && isJsonObject(values) && isJsonObject(previous))
        this.#create(values, { seq, id, previous })
      else this.#differences.line(seq, UNKNOWN_KIND)
    }
  }

  #readImported(path: string, { seq, count }: { readonly seq: number; readonly count: number }): void {
    for (const { text } of textLines(path)) {
      if (text.trim() === '') continue
      const values = parsedObject(text)
      const id = values?.['id']
      if (values === null || typeof id !== 'string') continue
      const record = { place: (this.#created += 1), created: seq, imported: false }
      this.records.add({ ...record, id, values })
    }
    if (this.#created !== count)
      this.#differences.line(seq, `an import of ${count} records, and its file has ${this.#created}`)
  }

  #changeFields(line: JsonObject, seq: number): void {
    const change = importedChange(line)
    this.#changes += 1
    if (this.#changes === MOST_CHANGES + 1)
      this.#differences.line(
        seq,
        `changes fields for the ${this.#changes}th time, and a sheet takes ${MOST_CHANGES} such lines`,
      )
    if (this.#changes > MOST_CHANGES) return
    if (change === null) {
      this.#differences.line(seq, UNKNOWN_KIND)
      return
    }
    const { converted } = line
    const fault = this.fields.apply(change, (name) => {
      const conversion = isJsonObject(converted) ? memberOf(converted, name) : null
      const { lost, reverts } = isJsonObject(conversion) ? conversion : {}
      return {
        lost: typeof lost === 'number' ? lost : null,
        reverts: typeof reverts === 'number' ? reverts : null,
      }
    })
    if (fault !== null) this.#differences.line(seq, fault)
    for (const column of this.fields.conversions) if (column.conversion.seq === seq) this.#countUnfit(column)
  }

  /** Notes a conversion that has lost exactly the values that fit no value of the new type: then no other one was lost. */
  #countUnfit(column: ConvertedColumn): void {
    const { from, lost } = column.conversion
    if (lost === null || lost === 0) return
    let unfit = 0
    for (const record of this.records.all()) {
      const before = this.possible(record, from)
      if (typeof before === 'string') return
      if (this.#made(record, column.conversion, before).length === 0) unfit += 1
    }
    if (unfit === lost) this.#exact.add(column.key)
  }

  #addRecordLine(line: JsonObject, { seq, id, values }: LinePlace & { readonly values: JsonObject }): void {
    const previous = isJsonObject(line['previous']) ? line['previous'] : {}
    if (line['source'] === 'delete') {
      this.#delete(previous, { seq, id, erased: erasedFields(line) })
      return
    }
    if (memberOf(values, 'id') === id) {
      this.#create(values, { seq, id, previous })
      return
    }
    const changes = Object.entries(values).map(([field, value]) => ({
      field,
      value: value ?? null,
      previous: memberOf(previous, field),
    }))
    this.#write(withoutErased(line, changes), { seq, id })
  }

  /** Empties cells: what the lines before say of their values is erased. */
  #erase(values: JsonObject, id: string): void {
    // Of one that is deleted, or that only a file has, no line says a value.
    const record = this.records.get(id)
    if (record === null) return
    this.#change(
      record,
      Object.keys(values).map((field) => [this.fields.of(field).key, null]),
    )
  }

  #write(changes: readonly CellChange[], { seq, id }: LinePlace): void {
    const record = this.#existing({ seq, id })
    const written = changes.map(({ field, value, previous }) => {
      const column = this.fields.of(field)
      this.#expect(record, { column, field, seq, value: previous })
      return [column.key, value] as const
    })
    this.#change(record, written)
  }

  #create(created: JsonObject, { seq, id, previous }: LinePlace & { readonly previous: JsonObject }): void {
    for (const field in previous) {
      const value = previous[field] ?? null
      if (value === null) continue
      this.#differences.line(seq, `creates a record, and "previous" is ${showValue(value)}`, {
        recordId: id,
        field,
      })
    }
    const values = this.fields.areUnchanged
      ? created
      : Object.fromEntries(
          Object.entries(created).map(([field, value]) => [this.fields.of(field).key, value ?? null]),
        )
    const place = (this.#created += 1)
    const record = { id, place, created: seq, imported: false, values }
    if (this.records.add(record)) return
    this.#differences.line(seq, 'creates a record that exists', { recordId: id })
    this.records.delete(id)
    this.records.add(record)
  }

  /** Returns the record that a line changes; one that no line has created is one of an imported file, or a difference. */
  #existing({ seq, id }: LinePlace): ReplayedRecord {
    const found = this.records.get(id)
    if (found !== null) return found
    const file = this.#import
    const isImported = file !== null && file.named < file.records
    if (file !== null && isImported) file.named += 1
    else this.#differences.line(seq, 'changes a record that does not exist', { recordId: id })
    const place = (this.#unplaced -= 1)
    const record = {
      id,
      place,
      created: isImported ? file.seq : seq,
      imported: isImported,
      values: { id },
    }
    this.records.add(record)
    return record
  }

  #change(record: ReplayedRecord, written: readonly (readonly [string, JsonValue])[]): void {
    this.records.set({ ...record, values: { ...record.values, ...Object.fromEntries(written) } })
  }

  #delete(
    previous: JsonObject,
    { seq, id, erased }: LinePlace & { readonly erased: ReadonlySet<string> },
  ): void {
    const record = this.#existing({ seq, id })
    for (const [field, value] of Object.entries(previous)) {
      if (erased.has(field)) continue
      this.#expect(record, { column: this.fields.of(field), field, seq, value: value ?? null })
    }
    const others = [
      ...Object.keys(record.values).flatMap((key) => this.fields.nameOf(key) ?? []),
      ...this.fields.converted().flatMap(({ key }) => this.fields.nameOf(key) ?? []),
    ]
    for (const field of new Set(others)) {
      if (Object.hasOwn(previous, field)) continue
      this.#expect(record, { column: this.fields.of(field), field, seq, value: null })
    }
    const file = this.#import
    if (record.imported && file !== null) {
      file.records -= 1
      file.named -= 1
    }
    this.records.delete(id)
  }

  #review(line: JsonObject, { seq, id }: LinePlace): void {
    const { reviewed, value = null } = line
    if (typeof reviewed !== 'string') {
      this.#differences.line(seq, UNKNOWN_KIND, { recordId: id })
      return
    }
    const record = this.#existing({ seq, id })
    if (erasedFields(line).has(reviewed)) return
    const column = this.fields.of(reviewed)
    this.#expect(record, { column, field: reviewed, seq, value })
    this.#change(record, [[column.key, value]])
  }

  #expect(
    record: ReplayedRecord,
    {
      column,
      field,
      seq,
      value,
    }: {
      readonly column: ReplayedColumn
      readonly field: string
      readonly seq: number
      readonly value: JsonValue
    },
  ): void {
    if (this.accepts(record, column, value)) return
    const message = `the value before is ${showValue(value)} in this line, and ${this.shown(record, column)} by the lines before`
    this.#differences.line(seq, message, { recordId: record.id, field })
  }

  /** Returns the value that a cell has by the lines so far, for messages. */
  shown(record: ReplayedRecord, column: ReplayedColumn): string {
    const values = this.possible(record, column)
    return typeof values === 'string' ? 'not known' : showValue(values[0] ?? null)
  }
}

interface LinePlace {
  readonly seq: number
  readonly id: string
}

interface CellChange {
  readonly field: string
  readonly value: JsonValue
  readonly previous: JsonValue
}

/** Returns the changes of a line without those whose values were erased from it. */
function withoutErased(line: JsonObject, changes: readonly CellChange[]): readonly CellChange[] {
  const erased = erasedFields(line)
  return erased.size === 0 ? changes : changes.filter(({ field }) => !erased.has(field))
}

const EMPTY: readonly JsonValue[] = [null]

const UNKNOWN_KIND = 'is of no kind that this version knows'

function counted(lost: number): string {
  return lost === 1 ? 'a value was lost' : `${lost} values were lost`
}

function distinct(values: readonly JsonValue[]): readonly JsonValue[] {
  return values.filter((value, index) => values.findIndex((one) => sameValue(one, value)) === index)
}
