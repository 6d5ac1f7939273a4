import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { test } from 'node:test'
import { SlowBodies, type Watched } from './slow-bodies.ts'

/** A request under way whose connection has received a number of bytes. */
class Arrival implements Watched {
  readonly headers: Watched['headers']
  readonly socket = new Socket()
  complete = false

  constructor(headers: Watched['headers']) {
    this.headers = headers
    this.arrived(0)
  }

  arrived(bytesRead: number): void {
    Object.defineProperty(this.socket, 'bytesRead', { value: bytesRead, configurable: true })
  }
}

function watching(headers: Watched['headers']): { bodies: SlowBodies; arrival: Arrival } {
  const bodies = new SlowBodies({ bytes: 100, windowMs: 1000 })
  const arrival = new Arrival(headers)
  bodies.watch(arrival, 0)
  return { bodies, arrival }
}

test('a body at the required pace is not interrupted, however long it takes', () => {
  const { bodies, arrival } = watching({ 'content-length': '5000' })
  for (let now = 200; now <= 20_000; now += 200) {
    arrival.arrived(now / 10)
    assert.deepEqual(bodies.findStalled(now), [])
  }
})

test('a body below the pace is found at the end of the window, once', () => {
  const { bodies, arrival } = watching({ 'transfer-encoding': 'chunked' })
  arrival.arrived(200)
  assert.deepEqual(bodies.findStalled(1000), [])
  arrival.arrived(299)
  assert.deepEqual(bodies.findStalled(1999), [])
  assert.deepEqual(bodies.findStalled(2000), [arrival.socket])
  assert.deepEqual(bodies.findStalled(4000), [])
})

test('a completed request, or a closed connection, is not found', () => {
  const complete = watching({ 'content-length': '10' })
  complete.arrival.complete = true
  assert.deepEqual(complete.bodies.findStalled(5000), [])
  const gone = watching({ 'content-length': '10' })
  gone.arrival.socket.destroy()
  assert.deepEqual(gone.bodies.findStalled(5000), [])
})

test('a request without a body is not watched', () => {
  for (const headers of [{}, { 'content-length': '0' }]) {
    assert.deepEqual(watching(headers).bodies.findStalled(5000), [])
  }
})
