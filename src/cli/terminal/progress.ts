import { progressLine, progressSentence, rateOf, type Moment, type RunCounts } from './progress-line.ts'
import { isTerminal, screenOf } from './terminal.ts'

/** How a run's progress is told: as a line that is drawn again, as lines of a log, or not at all. */
export const PROGRESS_STYLES = ['bar', 'plain', 'none'] as const
export type ProgressStyle = (typeof PROGRESS_STYLES)[number]

const DRAW_MS = 100
const PLAIN_MS = 5000
/** The rate is that of so long a time before now. */
const RATE_MS = 15_000

const HIDE_CURSOR = '\u001b[?25l'
const SHOW_CURSOR = '\u001b[?25h'
const CLEAR_LINE = '\r\u001b[K'

/** A bar where messages go to a terminal, else nothing: a log of a pipe would be full of it. */
export function usualProgress(): ProgressStyle {
  return isTerminal(process.stderr) && process.env['TERM'] !== 'dumb' ? 'bar' : 'none'
}

/**
 * Tells of a run's progress on standard error until what it answers with is called, which leaves the line as if there had
 * been none. `read` is asked again and again for how far the run is.
 */
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
  // Asked each time: windows change their size.
  process.stderr.write(`\r${progressLine(counts, rate, screenOf(process.stderr))}\u001b[K`)
}

function drawPlain(counts: RunCounts, rate: number | null): void {
  process.stderr.write(`${progressSentence(counts, rate)}\n`)
}
