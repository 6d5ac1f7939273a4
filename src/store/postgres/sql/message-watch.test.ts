import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../suite/support/random.ts'
import { FrameWatch } from './message-watch.ts'

test('the length of each message is reported when it begins, however the stream is chunked', () => {
  const random = seededRandom(1)
  const lengths = Array.from({ length: 200 }, () => (random.chance(0.3) ? 0 : random.below(300)))
  const stream = Buffer.concat(
    lengths.map((length) => {
      const message = Buffer.alloc(5 + length, 'D')
      message.writeInt32BE(length + 4, 1)
      return message
    }),
  )
  for (const most of [1, 3, 7, 1000]) {
    const told: number[] = []
    const watch = new FrameWatch((bytes) => told.push(bytes))
    for (let place = 0; place < stream.length;) {
      const size = 1 + random.below(most)
      watch.push(stream.subarray(place, place + size))
      place += size
    }
    assert.deepEqual(told, lengths)
  }
})
