import type { BenchSheets } from './bench-sheets.ts'
import type { PostgresSheets } from './postgres-sheets.ts'

/** A line of the report. */
export type BenchRow = ComparisonRow | FigureRow | LatencyRow | ProgramRow

/** `reach` is the table of what has a figure to reach, `also` that of everything else worth knowing. */
export type FigureTable = 'reach' | 'also'

/** What a figure must be. */
export type Bound = { readonly atLeast: number } | { readonly atMost: number }

/** Something measured beside a reference, in turn in the same run; the bound is that of the ratio. */
export interface ComparisonRow {
  readonly kind: 'comparison'
  readonly table: FigureTable
  readonly what: string
  readonly unit: string
  readonly reference: string
  readonly ours: number
  readonly theirs: number
  readonly ratio: number
  readonly bound: Bound
}

/** Something measured that has no reference: a time, a rate, an amount of memory. */
export interface FigureRow {
  readonly kind: 'figure'
  readonly table: FigureTable
  readonly what: string
  readonly unit: string
  readonly value: number
  readonly bound?: Bound
  /** What else there is to say about the figure. */
  readonly note?: string
}

/** How long reads of single records took while something else went on. In milliseconds. */
export interface LatencyRow {
  readonly kind: 'latency'
  /** What went on. */
  readonly meanwhile: string
  readonly requests: number
  readonly p50: number
  readonly p99: number
  readonly max: number
  /** The p99 of how late requests were sent, which is the load generator's fault and part of the above. */
  readonly lateP99: number
  readonly p99AtMost: number
}

/** A program that serves the same records, Colophon being one of them. */
export interface ProgramRow {
  readonly kind: 'program'
  readonly program: string
  readonly startMs: number
  readonly recordsPerSecond: number
  readonly pagesPerSecond: number
  readonly writeMs: number
  /** Null where the system does not tell. */
  readonly memoryMb: number | null
}

/** How thorough a run of the benchmarks is. */
export interface BenchSettings {
  /** Records of the large sheet. */
  readonly records: number
  /** Cells of the largest run; others have a tenth or a hundredth of these. */
  readonly cells: number
  /** Length of each measurement. */
  readonly seconds: number
  /** Pairs of measurements, ours and the reference in turn. */
  readonly rounds: number
}

/** What a case has at hand. */
export interface Bench<Sheets extends BenchSheets = BenchSheets> extends BenchSettings {
  readonly sheets: Sheets
  /** Base address of the API that derivations call. */
  readonly api: string
}

/** Rows that belong together. They are given as they are measured, so that a fault costs only those after it. */
export interface BenchCase<Sheets extends BenchSheets = BenchSheets> {
  readonly name: string
  run(bench: Bench<Sheets>): AsyncIterable<BenchRow>
}

/** A case, and what it has at hand, that is about stores in PostgreSQL only. */
export type PostgresCase = BenchCase<PostgresSheets>
export type PostgresBench = Bench<PostgresSheets>
