import type { Screen } from './terminal.ts'
import { cutToWidth, textWidth } from './text-width.ts'

/** The progress of a run: cells, calls, and dollars. */
export interface RunCounts {
  readonly done: number
  readonly total: number
  readonly failed: number
  readonly calls: number
  readonly totalCost: number
}

/** The progress at one time. */
export interface Moment {
  /** The time in milliseconds of a monotonic clock. */
  readonly at: number
  readonly done: number
}

const BAR_WIDTH = 24

/** Blocks of zero to seven eighths. */
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉']

/** Returns a run's progress in one line that fits the screen: bar, cells, rate, time left, failures, calls and cost. */
export function progressLine(counts: RunCounts, rate: number | null, screen: Screen): string {
  const { done, total, failed } = counts
  if (total === 0) return screen.paint('dim', 'waiting for the run to begin …')
  const words = wordsOf(counts, rate)
  const share = Math.min(1, done / total)
  const percent = `${String(Math.floor(share * 100)).padStart(3)} %`
  const room = screen.columns - textWidth(`${percent}  ${words.join(' · ')}`) - 1
  const width = Math.min(BAR_WIDTH, room - 1)
  // On a narrow screen the numbers matter more.
  const bar = width >= 4 ? `${screen.paint('cyan', barOf(share, width))} ` : ''
  const painted = words.map((word) =>
    failed > 0 && word.endsWith('failed') ? screen.paint('red', word) : word,
  )
  if (room >= 0) return `${bar}${percent}  ${painted.join(' · ')}`
  return cutToWidth(`${percent}  ${words.join(' · ')}`, screen.columns - 1)
}

/** Returns a run's progress as a sentence, for logs. */
export function progressSentence(counts: RunCounts, rate: number | null): string {
  if (counts.total === 0) return 'waiting for the run to begin'
  return wordsOf(counts, rate).join(', ')
}

function wordsOf({ done, total, failed, calls, totalCost }: RunCounts, rate: number | null): string[] {
  const words = [`${grouped(done)}/${grouped(total)} cells`]
  if (rate !== null && rate > 0 && done < total) {
    words.push(`${rate >= 10 ? grouped(Math.round(rate)) : rate.toFixed(1)}/s`)
    words.push(`${duration((total - done) / rate)} left`)
  }
  if (failed > 0) words.push(`${grouped(failed)} failed`)
  if (calls > 0) words.push(callsText(calls))
  if (totalCost > 0) words.push(dollars(totalCost))
  return words
}

function barOf(share: number, width: number): string {
  const eighths = Math.floor(share * width * 8)
  const drawn = '█'.repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? '')
  return drawn.padEnd(width, '░')
}

/** Returns the cells per second over these moments, oldest first; null when unknown. */
export function rateOf(moments: readonly Moment[]): number | null {
  const [first, last] = [moments[0], moments.at(-1)]
  if (first === undefined || last === undefined || last.at <= first.at) return null
  return ((last.done - first.done) / (last.at - first.at)) * 1000
}

/** Returns a duration as text, such as `3 m 20 s`. */
export function duration(seconds: number): string {
  const whole = Math.ceil(seconds)
  if (whole < 60) return `${whole} s`
  if (whole < 3600) return `${Math.floor(whole / 60)} m ${whole % 60} s`
  if (whole < 86_400) return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} m`
  return `${Math.floor(whole / 86_400)} d ${Math.floor((whole % 86_400) / 3600)} h`
}

/** Returns dollars as text, with as many digits as small amounts need. */
export function dollars(amount: number): string {
  if (amount === 0 || amount >= 1) return `$${grouped(Number(amount.toFixed(2)), 2)}`
  return `$${Number(amount.toPrecision(3))}`
}

/** Returns a number of calls as text. */
export function callsText(calls: number): string {
  return `${grouped(calls)} ${calls === 1 ? 'call' : 'calls'}`
}

/** Returns a number of records as text: `1 record`, `2 records`. */
export function recordsText(count: number): string {
  return `${grouped(count)} ${count === 1 ? 'record' : 'records'}`
}

/** Returns a number of cells as text. */
export function cellsText(cells: number): string {
  return `${grouped(cells)} ${cells === 1 ? 'cell' : 'cells'}`
}

/** Returns a number with commas between thousands, independent of the locale. */
export function grouped(number: number, decimals = 0): string {
  return number.toLocaleString('en-US', { minimumFractionDigits: decimals, maximumFractionDigits: decimals })
}
