import type { BenchSheets, DirectorySheets } from './bench-sheets.ts'
import type { PostgresSheets } from './postgres-sheets.ts'

/** A row of the report. */
export type BenchRow = ComparisonRow | FigureRow | LatencyRow | ProgramsRow

/** `reach` is the table of figures with a target, `also` that of all others. */
export type FigureTable = 'reach' | 'also'

/** The target of a figure. */
export type Bound = { readonly atLeast: number } | { readonly atMost: number }

/** A measurement beside a reference, in turn in the same run; the bound applies to the ratio. */
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

/** A measurement without a reference: a time, a rate, an amount of memory. */
export interface FigureRow {
  readonly kind: 'figure'
  readonly table: FigureTable
  readonly what: string
  readonly unit: string
  readonly value: number
  readonly bound?: Bound
  /** A remark about the figure. */
  readonly note?: string
}

/** Latency of reads of single records during other work, in milliseconds. */
export interface LatencyRow {
  readonly kind: 'latency'
  /** The other work. */
  readonly meanwhile: string
  readonly requests: number
  readonly p50: number
  readonly p99: number
  readonly max: number
  /** The p99 of the delay of requests, which the load generator causes and which is part of the above. */
  readonly lateP99: number
  readonly p99AtMost: number
}

/** A measurement of several programs with the same records. */
export interface ProgramsRow {
  readonly kind: 'programs'
  readonly what: string
  readonly unit: string
  readonly better: 'less' | 'more'
  /** Colophon is the first. Null if a program cannot do it, or the system does not report it. */
  readonly figures: readonly { readonly program: string; readonly value: number | null }[]
  /** The target for Colophon, as a multiple of the best figure of the others; null for no target. */
  readonly reach: number | null
}

/** The extent of a benchmark run. */
export interface BenchSettings {
  /** Records of the large sheet. */
  readonly records: number
  /** Cells of the largest run; others have a tenth or a hundredth of these. */
  readonly cells: number
  /** Length of each measurement. */
  readonly seconds: number
  /** Pairs of measurements, Colophon and the reference in turn. */
  readonly rounds: number
}

/** The resources of a case. */
export interface Bench<Sheets extends BenchSheets = BenchSheets> extends BenchSettings {
  readonly sheets: Sheets
  /** Base address of the API that derivations call. */
  readonly api: string
}

/** Rows that belong together. They are returned as they are measured, so that an error costs only later ones. */
export interface BenchCase<Sheets extends BenchSheets = BenchSheets> {
  readonly name: string
  run(bench: Bench<Sheets>): AsyncIterable<BenchRow>
}

/** A case for sheets in directories only. */
export type DirectoryCase = BenchCase<DirectorySheets>
export type DirectoryBench = Bench<DirectorySheets>

/** A case for stores in PostgreSQL only, with its resources. */
export type PostgresCase = BenchCase<PostgresSheets>
export type PostgresBench = Bench<PostgresSheets>
