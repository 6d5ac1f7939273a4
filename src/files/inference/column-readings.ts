import type { Field } from '../../contract/contract.ts'
import { showValue } from '../../contract/json/show-value.ts'
import { ambiguousDateText, ambiguousGroupText, type Show } from '../notation/ambiguity-text.ts'
import { isAmbiguousMoment, type DateOrder } from '../../contract/values/foreign-moment.ts'
import { isAmbiguousGroup, isMissingText } from '../../contract/values/foreign-number.ts'
import { NotationSketch, STRICT, type Reading } from '../notation/notation-sketch.ts'
import { countOccurrence, type Occurrence } from '../notation/occurrence.ts'
import type { RawRecord, RawRecords } from '../io/raw-records.ts'

/** Returns the {@link Reading} of each field. */
export interface FieldReadings {
  /** Prepares the readings for a batch. Call it before reading the records of the batch. */
  settle(batch: readonly RawRecord[]): Promise<void>
  of(field: string): Reading
}

export interface ColumnReadingsOptions {
  /** The file, which is read again if a value is ambiguous; null if it can be read only once. */
  readonly file: RawRecords | null
  /** Returns the field of a column, undefined if it has none. */
  readonly fieldOf: (column: string) => Field | undefined
  readonly dateOrder: DateOrder | null
  /** See {@link Reading}. */
  readonly lenient: boolean
}

/**
 * Readings for a file with a known contract. Only if a value is ambiguous, such as `03/04/2024` or `1,234`, is the
 * file searched for unambiguous values of the same column.
 */
export class ColumnReadings implements FieldReadings {
  readonly #options: ColumnReadingsOptions
  readonly #plain: Reading
  #known: ReadonlyMap<string, Reading> | null = null
  readonly #ambiguities: string[] = []
  readonly #missing = new Map<string, Occurrence>()
  /** The fields of columns that are no texts; null for any other column. */
  readonly #typed = new Map<string, Field | null>()

  constructor(options: ColumnReadingsOptions) {
    this.#options = options
    this.#plain = { dateOrder: options.dateOrder, commaGroups: false, lenient: options.lenient }
  }

  /** Resets the notes. Call it before reading the file from its start. */
  begin(): void {
    this.#missing.clear()
  }

  /** Returns a sentence for each field with ambiguous texts, or with texts read as no value since {@link begin}. */
  notes(): readonly string[] {
    const missing = Array.from(this.#missing, ([field, occurrence]) => {
      const more = occurrence.count === 1 ? '' : `, and ${occurrence.count - 1} more`
      return `field "${field}": ${this.#show(occurrence)}${more}: read as no value`
    })
    return [...this.#ambiguities, ...missing]
  }

  readonly #show: Show = ({ value, at }) => {
    const { file } = this.#options
    return `${showValue(value)} in ${file?.unit ?? 'record'} ${at}`
  }

  #tellAmbiguities(sketches: ReadonlyMap<string, NotationSketch>, points: ReadonlySet<string>): void {
    for (const [field, sketch] of sketches) {
      const texts = [
        this.#options.dateOrder === null ? ambiguousDateText(sketch, this.#show) : null,
        points.has(field) ? null : ambiguousGroupText(sketch, this.#show),
      ]
      for (const text of texts) if (text !== null) this.#ambiguities.push(`field "${field}": ${text}`)
    }
  }

  async settle(batch: readonly RawRecord[]): Promise<void> {
    const { file, lenient } = this.#options
    const looks = file !== null && this.#known === null
    let isAmbiguous = false
    for (const { values, at } of batch) {
      for (const column of Object.keys(values)) {
        const field = this.#typedField(column)
        const value = values[column]
        if (field === null || typeof value !== 'string') continue
        const text = value.trim()
        if (lenient && isMissingText(text))
          this.#missing.set(field.name, countOccurrence(this.#missing.get(field.name) ?? null, value, at))
        isAmbiguous ||= looks && isAmbiguousText(field, text)
      }
    }
    if (file !== null && isAmbiguous) this.#known = await this.#look(file)
  }

  #typedField(column: string): Field | null {
    let field = this.#typed.get(column)
    if (field === undefined) {
      const of = this.#options.fieldOf(column)
      field = of === undefined || of.type === 'string' ? null : of
      this.#typed.set(column, field)
    }
    return field
  }

  of(field: string): Reading {
    return this.#known?.get(field) ?? this.#plain
  }

  async #look(file: RawRecords): Promise<ReadonlyMap<string, Reading>> {
    const { fieldOf, dateOrder, lenient } = this.#options
    const sketches = new Map<string, NotationSketch>()
    const points = new Set<string>()
    for await (const batch of file.batches) {
      for (const { values, at } of batch) {
        for (const column of Object.keys(values)) {
          const field = fieldOf(column)
          const value = values[column] ?? null
          if (field === undefined || (!isNumeric(field.type) && !isTemporal(field.type))) continue
          if (typeof value !== 'string') continue
          sketchOf(sketches, field.name, file.cells !== 'values').add(value.trim(), at)
          if (HAS_POINT.test(value)) points.add(field.name)
        }
      }
    }
    this.#tellAmbiguities(sketches, points)
    return new Map(
      Array.from(sketches, ([name, sketch]) => [
        name,
        { ...sketch.reading(dateOrder, points.has(name)), lenient },
      ]),
    )
  }
}

function isAmbiguousText({ type }: Field, text: string): boolean {
  return isNumeric(type) ? isAmbiguousGroup(text) : isTemporal(type) && isAmbiguousMoment(text)
}

/** Returns the readings found while a contract was inferred. */
export function knownReadings(readings: ReadonlyMap<string, Reading>): FieldReadings {
  return { settle: () => Promise.resolve(), of: (field) => readings.get(field) ?? STRICT }
}

/** Matches a number with a decimal point and without thousands separators. */
const HAS_POINT = /^\s*[+-]?\d*\.\d+(?:e[+-]?\d+)?\s*$/i

function sketchOf(sketches: Map<string, NotationSketch>, field: string, groups: boolean): NotationSketch {
  const sketch = sketches.get(field) ?? new NotationSketch({ groups })
  sketches.set(field, sketch)
  return sketch
}

function isNumeric(type: Field['type'] | undefined): boolean {
  return type === 'integer' || type === 'number'
}

function isTemporal(type: Field['type'] | undefined): boolean {
  return type === 'date' || type === 'timestamp'
}
