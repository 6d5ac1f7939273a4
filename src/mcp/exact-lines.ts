import { Transform } from 'node:stream'
import { lossyNumberMessage } from '../sheet/json-body.ts'

const LINE_FEED = 10

export interface ExactLinesOptions {
  /** Longer lines are passed on unread, for the receiver to refuse. */
  readonly maxBytes: number
  /** Receives each line that is left out, and the error about a number in it. */
  readonly onRefused: (line: string, fault: string) => void
}

/** Passes lines of JSON on, except those with a number that would lose digits when parsed (D13): the SDK's parser rounds silently. */
export function exactLines({ maxBytes, onRefused }: ExactLinesOptions): Transform {
  let waiting: Buffer[] = []
  let size = 0
  let isTooLong = false
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      let from = 0
      for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, from)) {
        const line = Buffer.concat([...waiting, chunk.subarray(from, end + 1)])
        const text = line.toString()
        const fault = isTooLong ? null : lossyNumberMessage(text)
        if (fault === null) this.push(line)
        else onRefused(text, fault)
        waiting = []
        size = 0
        isTooLong = false
        from = end + 1
      }
      const rest = chunk.subarray(from)
      size += rest.length
      isTooLong ||= size > maxBytes
      waiting.push(rest)
      if (isTooLong) {
        this.push(Buffer.concat(waiting))
        waiting = []
      }
      done()
    },
    flush(done) {
      done(null, Buffer.concat(waiting))
    },
  })
}
