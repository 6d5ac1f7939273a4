import { EXIT, type ExitCode } from './exit-codes.ts'
import { inOneLine } from './one-line.ts'
import { renderTable, type Column } from './table.ts'
import { isTerminal, screenOf, type OutputStream, type Screen } from './terminal.ts'
import { visibleJson, visibleLines, visibleText } from './visible-text.ts'

/** How results are written: for people, as one JSON text, or as a JSON text to a line. */
export const OUTPUT_FORMATS = ['table', 'json', 'ndjson'] as const
export type OutputFormat = (typeof OUTPUT_FORMATS)[number]

/** Whoever read the output has gone, as `head` does when it has enough. No fault: the command ends quietly. */
export class OutputClosed extends Error {}

/** Items of a list, in groups as they come. */
export type Batches<T> = AsyncIterable<readonly T[]> | Iterable<readonly T[]>

/** How a list is shown. */
export interface ListShape<T> {
  /** At a terminal. Widths are those that the first batch needs. */
  readonly columns: readonly Column<T>[]
  /** The JSON text before and after the array's items; the second is asked for when they have all come. */
  readonly envelope?: readonly [before: string, after: () => string]
  /** What stands at a terminal in place of a table without lines. */
  readonly none: string
}

/** Where a command writes what it came to: standard output for the result alone, standard error for all else. */
export class Output {
  readonly format: OutputFormat
  /** Whether standard output is a terminal, whatever the format. */
  readonly isTerminal: boolean
  readonly screen: Screen
  readonly #stdout: OutputStream
  readonly #stderr: OutputStream

  /** `format` null means a table at a terminal and JSON in a pipe. */
  constructor(
    format: OutputFormat | null,
    { stdout, stderr }: { readonly stdout: OutputStream; readonly stderr: OutputStream } = process,
  ) {
    this.isTerminal = isTerminal(stdout)
    this.format = format ?? (this.isTerminal ? 'table' : 'json')
    this.screen = screenOf(stdout)
    this.#stdout = stdout
    this.#stderr = stderr
    // Each write hears of its own fault; one that nobody hears would end the process.
    for (const stream of [stdout, stderr]) stream.on('error', () => undefined)
  }

  /**
   * Writes one result: what `show` makes of it for people (without the last line break; nothing for an empty text), else
   * its JSON. Throws OutputClosed.
   */
  async print(value: unknown, show: (screen: Screen) => string): Promise<void> {
    if (this.format !== 'table') return this.write(`${this.#json(value)}\n`)
    const text = show(this.screen)
    if (text !== '') await this.write(`${text}\n`)
  }

  /** Writes a list as it comes: a table, an array of JSON in its envelope, or an item to a line. Throws OutputClosed. */
  async printList<T>(batches: Batches<T>, shape: ListShape<T>): Promise<void> {
    if (this.format === 'table') return this.#printTable(batches, shape)
    if (this.format === 'json') return this.#printArray(batches, shape)
    for await (const batch of batches) {
      if (batch.length > 0) await this.write(batch.map((item) => `${this.#item(item)}\n`).join(''))
    }
  }

  /** Tells people something beside the result, on standard error. */
  note(text: string): void {
    this.#stderr.write(`${visibleLines(text)}\n`)
  }

  /** Tells people of a fault, in one line on standard error. */
  fault(message: string): void {
    const { paint } = screenOf(this.#stderr)
    this.#stderr.write(`${paint('red', 'error:')} ${visibleText(inOneLine(message))}\n`)
  }

  /** Writes to standard output, and waits until it has been taken. Throws OutputClosed. */
  write(text: string | Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#stdout.write(text, (error) => {
        if (error === null || error === undefined) resolve()
        else reject(isClosed(error) ? new OutputClosed() : error)
      })
    })
  }

  #json(value: unknown): string {
    // At a terminal it was asked for by name, to be read; in a pipe a program reads it.
    return this.isTerminal && this.format === 'json'
      ? visibleJson(JSON.stringify(value, null, 2))
      : JSON.stringify(value)
  }

  #item(item: unknown): string {
    return this.isTerminal ? visibleJson(JSON.stringify(item)) : JSON.stringify(item)
  }

  async #printTable<T>(batches: Batches<T>, { columns, none }: ListShape<T>): Promise<void> {
    let table: ReturnType<typeof renderTable<T>> | null = null
    for await (const batch of batches) {
      if (batch.length === 0) continue
      table ??= renderTable(columns, batch, this.screen)
      await this.write(table.lines(batch))
    }
    if (table === null) await this.write(`${this.screen.paint('dim', none)}\n`)
  }

  async #printArray<T>(batches: Batches<T>, { envelope }: ListShape<T>): Promise<void> {
    const [before, after] = envelope ?? ['', () => '']
    let separator = `${before}[`
    for await (const batch of batches) {
      if (batch.length === 0) continue
      await this.write(separator + batch.map((item) => this.#item(item)).join(','))
      separator = ','
    }
    await this.write(`${separator === ',' ? '' : separator}]${after()}\n`)
  }
}

/** The exit code of a run by the cells that failed in it. */
export function exitCodeOf(failedCells: number): ExitCode {
  return failedCells > 0 ? EXIT.failedCells : EXIT.done
}

function isClosed(error: Error): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED' || code === 'ECONNRESET'
}
