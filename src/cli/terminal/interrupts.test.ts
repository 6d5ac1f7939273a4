import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { onInterrupt, type Interrupts } from './interrupts.ts'

/** A program that takes for ever to stop. */
const STOPS_FOR_EVER = `
  const { onInterrupt } = await import(${JSON.stringify(pathToFileURL(join(import.meta.dirname, 'interrupts.ts')).href)})
  onInterrupt(() => undefined)
  setInterval(() => console.log('here'), 20)
`

/** A process whose clock stands still unless it is told to go on. */
class FakeProcess {
  readonly signals = new EventEmitter()
  readonly stops: string[] = []
  readonly exits: number[] = []
  readonly interrupts: Interrupts
  ms = 1000

  constructor() {
    this.interrupts = onInterrupt((signal) => this.stops.push(signal), {
      signals: this.signals,
      now: () => this.ms,
      exit: (code) => this.exits.push(code),
    })
  }

  /** A signal of the system, or one that a launcher passes on. */
  signal(name: NodeJS.Signals, way?: string): void {
    if (way === undefined) this.signals.emit(name, name, 15)
    else this.signals.emit(name, name, 15, way)
  }
}

for (const first of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  test(`a second signal half a second after ${first} ends the process with 130, and an earlier one does nothing`, () => {
    const fake = new FakeProcess()
    assert.equal(fake.interrupts.seen, false)
    fake.signal(first)
    assert.equal(fake.interrupts.seen, true)
    // systemd sends both at once, and npm repeats what it gets.
    fake.signal('SIGHUP')
    fake.ms += 499
    fake.signal('SIGTERM')
    assert.deepEqual([fake.stops, fake.exits], [[first], []])
    fake.ms += 1
    fake.signal('SIGINT')
    assert.deepEqual([fake.stops, fake.exits], [[first], [130]])
  })
}

test('a signal to the process group that launchers also forward counts once, however late they are', () => {
  const fake = new FakeProcess()
  fake.signal('SIGTERM')
  for (const way of ['launcher < itself', 'launcher < launcher < itself', 'launcher gone']) {
    fake.ms += 10_000
    fake.signal('SIGTERM', way)
  }
  assert.deepEqual([fake.stops, fake.exits], [['SIGTERM'], []])
  fake.ms += 10_000
  fake.signal('SIGTERM', 'launcher < itself')
  assert.deepEqual([fake.stops, fake.exits], [['SIGTERM'], [130]])
})

test('after release it handles no signal', () => {
  const fake = new FakeProcess()
  fake.interrupts.release()
  assert.deepEqual(fake.signals.eventNames(), [])
})

test('a second interrupt ends the process with 130', async (t) => {
  const child = spawn(process.execPath, ['--input-type=module', '-e', STOPS_FOR_EVER], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  // A signal with each line that it writes: at the latest after half a second one of them is the second.
  child.stdout.on('data', () => child.kill('SIGINT'))
  assert.equal((await once(child, 'close'))[0], 130)
})
