import { EXIT, type ExitCode } from './exit-codes.ts'
import { inOneLine } from './one-line.ts'
import { renderTable, type Column } from './table.ts'
import { isTerminal, screenOf, type OutputStream, type Screen } from './terminal.ts'
import { visibleJson, visibleLines, visibleText } from './visible-text.ts'

/** The formats of results: a table for people, one JSON text, or a JSON text per line. */
export const OUTPUT_FORMATS = ['table', 'json', 'ndjson'] as const
export type OutputFormat = (typeof OUTPUT_FORMATS)[number]

/** The reader closed the output, as `head` does. The command ends quietly. */
export class OutputClosed extends Error {}

/** Items of a list, in batches. */
export type Batches<T> = AsyncIterable<readonly T[]> | Iterable<readonly T[]>

/** The layout of a list. */
export interface ListShape<T> {
  /** The columns at a terminal, sized for the first batch. */
  readonly columns: readonly Column<T>[]
  /** The JSON text before and after the array; the second is requested after the last item. */
  readonly envelope?: readonly [before: string, after: () => string]
  /** The text at a terminal when the list is empty. */
  readonly none: string
}

/** The output of a command: standard output for the result only, standard error for everything else. */
export class Output {
  readonly format: OutputFormat
  /** Whether standard output is a terminal, whatever the format. */
  readonly isTerminal: boolean
  readonly screen: Screen
  readonly #stdout: OutputStream
  readonly #stderr: OutputStream

  /** Writes a table at a terminal and JSON to a pipe when `format` is null. */
  constructor(
    format: OutputFormat | null,
    { stdout, stderr }: { readonly stdout: OutputStream; readonly stderr: OutputStream } = process,
  ) {
    this.isTerminal = isTerminal(stdout)
    this.format = format ?? (this.isTerminal ? 'table' : 'json')
    this.screen = screenOf(stdout)
    this.#stdout = stdout
    this.#stderr = stderr
    // Each write handles its own error; an unhandled one would end the process.
    for (const stream of [stdout, stderr]) stream.on('error', () => undefined)
  }

  /**
   * Writes one result: at a terminal what `show` returns, without a line break at the end, and nothing for an empty
   * text; else its JSON. Throws OutputClosed.
   */
  async print(value: unknown, show: (screen: Screen) => string): Promise<void> {
    if (this.format !== 'table') return this.write(`${this.#json(value)}\n`)
    const text = show(this.screen)
    if (text !== '') await this.write(`${text}\n`)
  }

  /**
   * Writes a list as it arrives: a table, an array of JSON in its envelope, or an item per line. Throws OutputClosed.
   */
  async printList<T>(batches: Batches<T>, shape: ListShape<T>): Promise<void> {
    if (this.format === 'table') return this.#printTable(batches, shape)
    if (this.format === 'json') return this.#printArray(batches, shape)
    for await (const batch of batches) {
      if (batch.length > 0) await this.write(batch.map((item) => `${this.#item(item)}\n`).join(''))
    }
  }

  /** Writes a message beside the result to standard error. */
  note(text: string): void {
    this.#stderr.write(`${visibleLines(text)}\n`)
  }

  /** Writes an error to standard error, in one line. */
  fault(message: string): void {
    const { paint } = screenOf(this.#stderr)
    this.#stderr.write(`${paint('red', 'error:')} ${visibleText(inOneLine(message))}\n`)
  }

  /** Writes to standard output, and resolves when it was consumed. Throws OutputClosed. */
  write(text: string | Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#stdout.write(text, (error) => {
        if (error === null || error === undefined) resolve()
        else reject(isClosed(error) ? new OutputClosed() : error)
      })
    })
  }

  #json(value: unknown): string {
    // Indented at a terminal, where it was requested for reading; compact in a pipe.
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

/** Returns the exit code of a run for its number of failed cells. */
export function exitCodeOf(failedCells: number): ExitCode {
  return failedCells > 0 ? EXIT.failedCells : EXIT.done
}

function isClosed(error: Error): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED' || code === 'ECONNRESET'
}
