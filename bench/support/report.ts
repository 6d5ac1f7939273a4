import { execFileSync } from 'node:child_process'
import { arch, cpus, platform, totalmem } from 'node:os'
import type {
  BenchRow,
  BenchSettings,
  Bound,
  ComparisonRow,
  FigureRow,
  LatencyRow,
  ProgramsRow,
} from './case.ts'
import type { CaseResult } from './run-cases.ts'

export interface ReportSettings extends BenchSettings {
  /** The server of the store, if it has one. */
  readonly server?: string | null
  /** Programs that the report is to be beside, and that are not there, with what to do; null if it is not beside peers. */
  readonly missingPeers?: readonly string[] | null
}

/** Renders the report of a run as Markdown: the environment, and a table for each kind of row. */
export function renderReport(results: readonly CaseResult[], settings: ReportSettings): string {
  const rows = results.flatMap((result) => result.rows)
  const sections = [
    section('Figures to reach', FIGURE_HEAD, rows.filter(inTable('reach')).map(figureCells)),
    section('Latency while others work', LATENCY_HEAD, rows.filter(isOfKind('latency')).map(latencyCells)),
    ...programSections(rows.filter(isOfKind('programs'))),
    section('Also measured', FIGURE_HEAD, rows.filter(inTable('also')).map(figureCells)),
    ...results.map(({ name, failure }) =>
      failure === null ? '' : `The case \`${name}\` failed, so rows are missing: ${failure.message}\n`,
    ),
  ]
  return [head(settings), ...sections.filter((text) => text !== '')].join('\n')
}

const FIGURE_HEAD = ['What', 'Colophon', 'Reference', 'Ratio', 'To reach', '']
const LATENCY_HEAD = ['Meanwhile', 'Requests', 'p50', 'p99', 'max', 'p99 of sent late', 'p99 to reach', '']

function head(settings: ReportSettings): string {
  const { rounds, seconds, missingPeers = null } = settings
  const commit = execFileSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' }).trim()
  const processors = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown processor'}`
  const { title, sheet, how, command } = kindOf(settings)
  return `# ${title}

${new Date().toISOString().slice(0, 10)}, commit ${commit}; Node ${process.version}, ${platform()} ${arch()}, ${processors},
${Math.round(totalmem() / 2 ** 30)} GiB of memory. ${sheet} ${how.what} were
measured in turn in the same run (rounds: ${rounds}, of ${seconds} s each, 64 connections over HTTP); figures are ${how.figures}.
What each row does is in [README.md](README.md); \`${command}\` writes this file.
${(missingPeers ?? []).map((text) => `\n${text}\n`).join('')}`
}

/** The parts of the sentence about the method, for reports of pairs and of programs. */
const PAIRS = { what: 'Pairs', figures: "medians, the ratio is the\nmedian of the pairs'" }
const PROGRAMS = { what: 'The programs', figures: 'medians' }

function kindOf({ records, server = null, missingPeers = null }: ReportSettings): {
  readonly title: string
  readonly sheet: string
  readonly how: typeof PAIRS
  readonly command: string
} {
  const count = records.toLocaleString('en')
  if (missingPeers !== null) {
    return {
      title: 'Benchmark results beside peers',
      sheet: `The largest sheet has ${count} records × 9 fields, two of them indexed.`,
      how: PROGRAMS,
      command: 'npm run bench -- --peers',
    }
  }
  const sheet = `The large sheet has ${count} records × 20 fields, 3 of them derived.`
  if (server === null) return { title: 'Benchmark results', sheet, how: PAIRS, command: 'npm run bench' }
  return {
    title: 'Benchmark results on PostgreSQL',
    sheet: `${sheet} The store is ${server}.`,
    how: PAIRS,
    command: 'npm run bench -- --store postgres',
  }
}

function section(title: string, columns: readonly string[], lines: readonly (readonly string[])[]): string {
  if (lines.length === 0) return ''
  const cells = [columns, columns.map(() => '---'), ...lines]
  return `## ${title}\n\n${cells.map((line) => `| ${line.join(' | ')} |`).join('\n')}\n`
}

function figureCells(row: ComparisonRow | FigureRow): string[] {
  if (row.kind === 'comparison') {
    const reference = `${row.reference}: ${amount(row.theirs, row.unit)}`
    const ratio = `**${row.ratio.toFixed(2)}**`
    return [row.what, amount(row.ours, row.unit), reference, ratio, ...judged(row.ratio, row.bound, '×')]
  }
  const bound = row.bound === undefined ? ['–', ''] : judged(row.value, row.bound, row.unit)
  return [row.what, amount(row.value, row.unit), row.note ?? '–', '–', ...bound]
}

/** Returns the target, and whether it is reached. */
function judged(value: number, bound: Bound, unit: string): [string, string] {
  return 'atLeast' in bound
    ? [`≥ ${amount(bound.atLeast, unit)}`, value >= bound.atLeast ? '✓' : '✗']
    : [`≤ ${amount(bound.atMost, unit)}`, value <= bound.atMost ? '✓' : '✗']
}

function latencyCells(row: LatencyRow): string[] {
  const times = [row.p50, row.p99, row.max, row.lateP99].map((time) => amount(time, 'ms'))
  return [
    row.meanwhile,
    amount(row.requests, ''),
    ...times,
    ...judged(row.p99, { atMost: row.p99AtMost }, 'ms'),
  ]
}

/** Returns a table for each set of programs, with a column for each of them. */
function programSections(rows: readonly ProgramsRow[]): string[] {
  const groups = Map.groupBy(rows, ({ figures }) => figures.map(({ program }) => program).join(', '))
  return [...groups.values()].map((group) => {
    const programs = group[0]!.figures.map(({ program }) => program)
    return section(
      'Beside what else there is',
      ['What', ...programs, 'To reach', ''],
      group.map(programCells),
    )
  })
}

function programCells({ what, unit, better, figures, reach }: ProgramsRow): string[] {
  const values = figures.map(({ value }) => (value === null ? 'cannot' : amount(value, unit)))
  const [ours = null, ...others] = figures.map(({ value }) => value)
  const known = others.filter((value) => value !== null)
  if (reach === null || ours === null || known.length === 0) return [what, ...values, '–', '']
  const bound =
    better === 'less' ? { atMost: Math.min(...known) / reach } : { atLeast: Math.max(...known) * reach }
  return [what, ...values, ...judged(ours, bound, unit)]
}

/** Returns a number with its significant digits and its unit. */
function amount(value: number, unit: string): string {
  const digits = value >= 100 || Number.isInteger(value) ? 0 : value >= 10 ? 1 : 2
  const text = value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
  return `${text} ${unit}`.trim()
}

function inTable(table: 'reach' | 'also'): (row: BenchRow) => row is ComparisonRow | FigureRow {
  return (row): row is ComparisonRow | FigureRow => 'table' in row && row.table === table
}

function isOfKind<Kind extends BenchRow['kind']>(
  kind: Kind,
): (row: BenchRow) => row is Extract<BenchRow, { kind: Kind }> {
  return (row): row is Extract<BenchRow, { kind: Kind }> => row.kind === kind
}
