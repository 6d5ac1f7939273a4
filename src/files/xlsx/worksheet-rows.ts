import { readNumber } from '../../contract/json/exact-json.ts'
import type { WrittenNumber } from '../../contract/json/written-number.ts'
import { ValidationError } from '../../errors/service-error.ts'
import { MAX_COLUMNS, MAX_RECORD_SIZE, tooLargeRecord } from '../io/file-limits.ts'
import { TextCollector, type Workbook } from './read-workbook.ts'
import type { XmlHandlers } from './read-xml.ts'
import { columnName, columnOf } from './xlsx-cells.ts'
import { textOfSerial } from './xlsx-dates.ts'
import { MAX_ROWS } from './write-xlsx.ts'
import { decodeText } from './xlsx-text.ts'

export type CellValue = string | number | boolean | WrittenNumber

/** A row with values. */
export interface WorksheetRow {
  /** The row number, from 1. */
  readonly number: number
  /** The cells by column, from 0; columns without a value are missing. */
  readonly cells: readonly (CellValue | undefined)[]
  /** Its approximate length in characters. */
  readonly size: number
  /** Columns with a formula without a stored value. */
  readonly unread: readonly number[]
}

/** The formulas without a stored value, as far as the worksheet has been read. */
export class UnreadFormulas {
  #count = 0
  #first = ''

  /** Begins again with the first row, and keeps the results until there are more. */
  restart(): void {
    this.#counted = 0
  }

  #counted = 0

  add(cell: string): void {
    this.#counted += 1
    if (this.#first === '') this.#first = cell
    this.#count = Math.max(this.#count, this.#counted)
  }

  guess(): string | null {
    if (this.#count === 0) return null
    const what = this.#count === 1 ? '1 formula has' : `${this.#count} formulas have`
    return (
      `${what} no value in the file, the first in ${this.#first}: read as no value; for the values, open the file in a ` +
      'spreadsheet program and save it'
    )
  }
}

export interface WorksheetOptions {
  readonly workbook: Workbook
  /** Texts, including error values, that mean no value. */
  readonly nulls: readonly string[]
  readonly formulas: UnreadFormulas
}

interface OpenCell {
  readonly column: number
  readonly type: string
  readonly style: number
  hasFormula: boolean
  /** The value as written in the XML; null if there is none. */
  value: string | null
}

/** Collects the rows of a worksheet from its elements. A formula has its stored value. */
export class WorksheetRows implements XmlHandlers {
  readonly #name: string
  readonly #workbook: Workbook
  readonly #nulls: readonly string[]
  readonly #formulas: UnreadFormulas
  readonly #inline = new TextCollector()
  #rows: WorksheetRow[] = []
  #number = 0
  #cells: (CellValue | undefined)[] = []
  #column = -1
  #size = 0
  #cell: OpenCell | null = null
  #element = ''
  #unread: number[] = []

  constructor(name: string, { workbook, nulls, formulas }: WorksheetOptions) {
    this.#name = name
    this.#workbook = workbook
    this.#nulls = nulls
    this.#formulas = formulas
  }

  /** Returns the rows that have ended since the last call. */
  take(): readonly WorksheetRow[] {
    const rows = this.#rows
    this.#rows = []
    return rows
  }

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    this.#element = name
    if (name === 'row') this.#openRow(attributes)
    else if (name === 'c') this.#openCell(attributes)
    else if (this.#cell !== null) {
      if (name === 'f') this.#cell.hasFormula = true
      if (name === 'v') this.#cell.value = ''
      this.#inline.open(name)
    }
  }

  close(name: string): void {
    this.#element = ''
    if (name === 'row') this.#closeRow()
    else if (name === 'c') this.#closeCell()
    else this.#inline.close(name)
  }

  text(text: string): void {
    if (this.#cell === null) return
    if (this.#element === 'v') this.#cell.value = (this.#cell.value ?? '') + text
    else this.#inline.text(text)
  }

  #openRow({ r: number }: Readonly<Record<string, string>>): void {
    const next = number === undefined ? this.#number + 1 : Number(number)
    if (!Number.isInteger(next) || next <= this.#number || next > MAX_ROWS) {
      throw new ValidationError(
        `${this.#name}: the file is damaged: its rows are not in order`,
        'unreadable_file',
      )
    }
    this.#number = next
    this.#cells = []
    this.#unread = []
    this.#column = -1
    this.#size = 0
  }

  #closeRow(): void {
    if (this.#cells.length > 0)
      this.#rows.push({
        number: this.#number,
        cells: this.#cells,
        size: this.#size,
        unread: this.#unread,
      })
  }

  #openCell({ r: reference, t: type = 'n', s: style = '0' }: Readonly<Record<string, string>>): void {
    const column = reference === undefined ? this.#column + 1 : columnOf(reference)
    if (column === null || column <= this.#column || column >= MAX_COLUMNS) {
      throw new ValidationError(
        `${this.#name}, row ${this.#number}: the file is damaged: its cells are not in order`,
        'unreadable_file',
      )
    }
    this.#column = column
    this.#cell = { column, type, style: Number(style), hasFormula: false, value: null }
  }

  #closeCell(): void {
    const cell = this.#cell
    if (cell === null) return
    this.#cell = null
    const value = this.#valueOf(cell, this.#inline.take())
    if (value === undefined) return
    this.#cells[cell.column] = value
    this.#size += typeof value === 'string' ? value.length + 8 : 8
    if (this.#size > MAX_RECORD_SIZE) throw tooLargeRecord(`${this.#name}, row ${this.#number}`)
  }

  #valueOf(cell: OpenCell, inline: string): CellValue | undefined {
    const { type, value } = cell
    if (type === 'inlineStr') return inline
    if (value === null || (value === '' && type !== 'str')) {
      if (cell.hasFormula) {
        this.#unread.push(cell.column)
        this.#formulas.add(`${columnName(cell.column)}${this.#number}`)
      }
      return undefined
    }
    switch (type) {
      case 's':
        return this.#sharedText(cell, value)
      case 'str':
        return decodeText(value)
      case 'b':
        return value === '1' || value === 'true'
      case 'd':
        return value
      case 'e':
        if (this.#nulls.includes(value)) return undefined
        throw this.#fault(
          cell,
          `has the error ${value}; fix it, clear the cell, or give --null "${value}" to read it as no value`,
        )
      default:
        return this.#numberOf(cell, value)
    }
  }

  #sharedText(cell: OpenCell, value: string): string {
    const text = /^\d+$/.test(value) ? this.#workbook.texts[Number(value)] : undefined
    if (text === undefined) throw this.#fault(cell, 'refers to a text that the file does not have')
    return text
  }

  #numberOf(cell: OpenCell, value: string): CellValue {
    const number = readNumber(value.trim())
    if (number === null) throw this.#fault(cell, 'has something that is no number')
    const shape = this.#workbook.shapes[cell.style] ?? null
    if (shape === null) return number
    return textOfSerial(Number(value), shape, this.#workbook.from1904) ?? number
  }

  #fault({ column }: OpenCell, what: string): ValidationError {
    return new ValidationError(
      `${this.#name}, row ${this.#number}: the cell ${columnName(column)}${this.#number} ${what}`,
      'unreadable_file',
    )
  }
}
