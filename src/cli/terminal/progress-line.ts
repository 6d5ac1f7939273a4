import type { Screen } from './terminal.ts'
import { cutToWidth, textWidth } from './text-width.ts'

/** How far a run is, as its feed tells it; cells, calls, and dollars. */
export interface RunCounts {
  readonly done: number
  readonly total: number
  readonly failed: number
  readonly calls: number
  readonly totalCost: number
}

/** A moment of a run. */
export interface Moment {
  /** Milliseconds, of a clock that only goes on. */
  readonly at: number
  readonly done: number
}

const BAR_WIDTH = 24

/** Parts of a block, from an eighth up. */
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉']

/** A run's progress in one line that fits the screen: bar, cells, rate, time left, failures, calls and cost. */
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

/** The same as a sentence, for logs. */
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

/** Cells a second over these moments, the oldest first; null when they tell none. */
export function rateOf(moments: readonly Moment[]): number | null {
  const [first, last] = [moments[0], moments.at(-1)]
  if (first === undefined || last === undefined || last.at <= first.at) return null
  return ((last.done - first.done) / (last.at - first.at)) * 1000
}

/** Seconds as people say them, such as `3 m 20 s`. */
export function duration(seconds: number): string {
  const whole = Math.ceil(seconds)
  if (whole < 60) return `${whole} s`
  if (whole < 3600) return `${Math.floor(whole / 60)} m ${whole % 60} s`
  if (whole < 86_400) return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} m`
  return `${Math.floor(whole / 86_400)} d ${Math.floor((whole % 86_400) / 3600)} h`
}

/** Dollars, with as many digits as small amounts need. */
export function dollars(amount: number): string {
  if (amount === 0 || amount >= 1) return `$${grouped(Number(amount.toFixed(2)), 2)}`
  return `$${Number(amount.toPrecision(3))}`
}

/** A number of calls, in words. */
export function callsText(calls: number): string {
  return `${grouped(calls)} ${calls === 1 ? 'call' : 'calls'}`
}

/** `1 record`, `2 records`. */
export function recordsText(count: number): string {
  return `${grouped(count)} ${count === 1 ? 'record' : 'records'}`
}

/** A number of cells, in words. */
export function cellsText(cells: number): string {
  return `${grouped(cells)} ${cells === 1 ? 'cell' : 'cells'}`
}

/** A number with commas between thousands, the same whatever the language of the machine. */
export function grouped(number: number, decimals = 0): string {
  return number.toLocaleString('en-US', { minimumFractionDigits: decimals, maximumFractionDigits: decimals })
}
