import { progressLine, progressSentence, rateOf, type Moment, type RunCounts } from './progress-line.ts'
import { isTerminal, screenOf } from './terminal.ts'

/** The styles of progress: a line that is redrawn, lines of a log, or none. */
export const PROGRESS_STYLES = ['bar', 'plain', 'none'] as const
export type ProgressStyle = (typeof PROGRESS_STYLES)[number]

const DRAW_MS = 100
const PLAIN_MS = 5000
/** The period, in milliseconds, over which the rate is computed. */
const RATE_MS = 15_000

const HIDE_CURSOR = '\u001b[?25l'
const SHOW_CURSOR = '\u001b[?25h'
const CLEAR_LINE = '\r\u001b[K'

/** Returns `bar` when standard error is a terminal, else `none`. */
export function usualProgress(): ProgressStyle {
  return isTerminal(process.stderr) && process.env['TERM'] !== 'dumb' ? 'bar' : 'none'
}

/** Shows a run's progress on standard error, polling `read`. Returns a function that stops it and clears the line. */
export function showProgress(style: ProgressStyle, read: () => RunCounts | undefined): () => void {
  if (style === 'none') return () => undefined
  const draw = style === 'bar' ? drawBar : drawPlain
  const moments: Moment[] = []
  const tick = (): void => {
    const counts = read()
    if (counts === undefined) return
    const at = performance.now()
    moments.push({ at, done: counts.done })
    while (moments.length > 2 && (moments[0]?.at ?? at) < at - RATE_MS) moments.shift()
    draw(counts, rateOf(moments))
  }
  if (style === 'bar') process.stderr.write(HIDE_CURSOR)
  const showCursor = (): void => void process.stderr.write(`${CLEAR_LINE}${SHOW_CURSOR}`)
  // Also when a second Ctrl-C ends the process at once.
  if (style === 'bar') process.on('exit', showCursor)
  const timer = setInterval(tick, style === 'bar' ? DRAW_MS : PLAIN_MS)
  return () => {
    clearInterval(timer)
    if (style !== 'bar') return
    process.off('exit', showCursor)
    showCursor()
  }
}

function drawBar(counts: RunCounts, rate: number | null): void {
  // Read each time, since windows are resized.
  process.stderr.write(`\r${progressLine(counts, rate, screenOf(process.stderr))}\u001b[K`)
}

function drawPlain(counts: RunCounts, rate: number | null): void {
  process.stderr.write(`${progressSentence(counts, rate)}\n`)
}
