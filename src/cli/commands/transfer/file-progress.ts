import { duration, grouped, rateOf, type Moment } from '../../terminal/progress-line.ts'
import type { ProgressStyle } from '../../terminal/progress.ts'
import { screenOf, type Screen } from '../../terminal/terminal.ts'
import { cutToWidth, textWidth } from '../../terminal/text-width.ts'

/** The progress of reading or writing a file. */
export interface FileProgress {
  /** The step, such as `checking`. */
  readonly what: string
  readonly done: number
  /** Formats a number of units, such as records. */
  readonly amount: (number: number) => string
  /** The fraction that is done, from 0 to 1; null when unknown. */
  readonly share: number | null
}

const DRAW_MS = 100
const PLAIN_MS = 5000
const RATE_MS = 10_000
const BAR_WIDTH = 24

/**
 * Shows the progress of a file on standard error, polling `read`. Returns a function that stops it and clears the line.
 */
export function showFileProgress(style: ProgressStyle, read: () => FileProgress | undefined): () => void {
  if (style === 'none') return () => undefined
  let moments: Moment[] = []
  let what = ''
  const tick = (): void => {
    const progress = read()
    if (progress === undefined) return
    // The second pass over a file has its own speed.
    if (progress.what !== what) moments = []
    what = progress.what
    const at = performance.now()
    moments.push({ at, done: progress.done })
    while (moments.length > 2 && (moments[0]?.at ?? at) < at - RATE_MS) moments.shift()
    const words = progressWords(progress, rateOf(moments))
    process.stderr.write(
      style === 'bar' ? `\r${fileLine(progress, words, screenOf(process.stderr))}\u001b[K` : `${words}\n`,
    )
  }
  const timer = setInterval(tick, style === 'bar' ? DRAW_MS : PLAIN_MS)
  return () => {
    clearInterval(timer)
    if (style === 'bar') process.stderr.write('\r\u001b[K')
  }
}

/** Returns the progress of a file as text; `rate` is per second. */
export function progressWords({ what, done, amount, share }: FileProgress, rate: number | null): string {
  const words = [`${what} ${amount(done)}`]
  if (rate !== null && rate > 0) {
    words.push(`${amount(Math.round(rate))}/s`)
    if (share !== null && share > 0 && share < 1) words.push(`${duration((done / share - done) / rate)} left`)
  }
  return words.join(' · ')
}

/** Returns the progress of a file with a bar, in one line that fits the screen. */
export function fileLine({ share }: FileProgress, words: string, screen: Screen): string {
  const room = screen.columns - textWidth(words) - 8
  if (share === null || room < 4) return cutToWidth(words, screen.columns - 1)
  const width = Math.min(BAR_WIDTH, room)
  const drawn = '█'.repeat(Math.floor(share * width)).padEnd(width, '░')
  return `${screen.paint('cyan', drawn)} ${String(Math.floor(share * 100)).padStart(3)} %  ${words}`
}

/** Returns a number of bytes as text. */
export function bytesText(bytes: number): string {
  return bytes < 1 << 20 ? `${grouped(bytes / 1024, 1)} KiB` : `${grouped(bytes / (1 << 20), 1)} MiB`
}
