import assert from 'node:assert/strict'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { RecordsError } from '../errors/service-error.ts'
import { withoutValues } from './erased-line.ts'
import type { LineText, LogSource } from './log-line.ts'
import { LogMirror, type MirrorPosition } from './log-mirror.ts'
import type { SetAside } from './set-aside.ts'

const NOTHING: MirrorPosition = { seq: 0, offset: 0 }

const lineOf = (seq: number, text = 'é\u2028'): string => JSON.stringify({ seq, text })

/** A line in the two parts that writers produce. */
function halves(line: string): LineText {
  const middle = line.length >> 1
  return { start: line.slice(0, middle), end: line.slice(middle) }
}

/** The durable lines, and the file that mirrors them. */
class Log {
  readonly path: string
  readonly lines: string[] = []
  readonly setAside: SetAside[] = []

  constructor(t: TestContext, lines: readonly string[] = []) {
    const directory = mkdtempSync(join(tmpdir(), 'colophon-mirror-'))
    t.after(() => rmSync(directory, { recursive: true }))
    this.path = join(directory, 'provenance.jsonl')
    this.lines.push(...lines)
  }

  readonly source: LogSource = {
    lastSeq: () => this.lines.length,
    linesAfter: (after) => this.lines.slice(after).map((line, index) => ({ seq: after + index + 1, line })),
  }

  mirror(t: TestContext, verified = NOTHING): LogMirror {
    const mirror = new LogMirror(this.path, this.source, {
      verified,
      onSetAside: (lines) => this.setAside.push(lines),
    })
    t.after(() => mirror.close())
    return mirror
  }

  /** Appends lines as a transaction does: first to the source, then to the mirror. */
  append(mirror: LogMirror, ...lines: string[]): void {
    this.lines.push(...lines)
    mirror.append(lines.map(halves), this.lines.length)
  }

  get wanted(): string {
    return this.lines.map((line) => `${line}\n`).join('')
  }

  get file(): string {
    return readFileSync(this.path, 'utf8')
  }

  get end(): MirrorPosition {
    return { seq: this.lines.length, offset: Buffer.byteLength(this.wanted) }
  }
}

test('D34: of lines that other processes have appended, only these are compared before more are appended', (t) => {
  const log = new Log(t)
  const mirror = log.mirror(t)
  log.append(mirror, lineOf(1), lineOf(2))
  const other = log.mirror(t, log.end)
  log.append(other, lineOf(3), lineOf(4))
  const read = t.mock.method(log.source, 'linesAfter')
  log.append(mirror, lineOf(5))
  assert.deepEqual(
    read.mock.calls.map(({ arguments: [after] }) => after),
    [2],
  )
  assert.equal(log.file, log.wanted)
  assert.deepEqual(mirror.position, log.end)
})

test('D34: lines that others have appended and the source does not have are removed before more are appended', (t) => {
  for (const added of [
    `${lineOf(2, 'no')}\n`,
    `${lineOf(2)}\n${lineOf(3)}\n`,
    lineOf(2).slice(3),
    `${lineOf(2)} `,
  ]) {
    const log = new Log(t)
    const mirror = log.mirror(t)
    log.append(mirror, lineOf(1))
    log.lines.push(lineOf(2))
    appendFileSync(log.path, added)
    log.append(mirror, lineOf(3, 'own'))
    assert.equal(log.file, log.wanted, added)
  }
})

test('lines of all lengths are written completely and in order, however many bytes their characters take', (t) => {
  const log = new Log(t)
  const mirror = log.mirror(t)
  mirror.repair()
  const lengths = [1, 700, 87_000, 87_400, 130_000, 262_100, 262_144, 600_000, 3]
  for (const characters of ['x', 'é', '€', '😀']) {
    log.append(
      mirror,
      ...lengths.map((length, index) => lineOf(log.lines.length + index + 1, characters.repeat(length))),
    )
    assert.equal(log.file === log.wanted, true, characters)
    assert.deepEqual(mirror.position, log.end)
  }
})

test('the file is created if necessary, and contains the appended lines', (t) => {
  const log = new Log(t, [lineOf(1), lineOf(2)])
  const mirror = log.mirror(t)
  mirror.repair()
  assert.equal(log.file, log.wanted)
  log.append(mirror, lineOf(3))
  log.append(mirror, lineOf(4), lineOf(5))
  assert.equal(log.file, log.wanted)
  assert.deepEqual(mirror.position, log.end)
})

test('D34: a file cut at any byte is complete again after a repair, whatever was recorded of it', (t) => {
  const log = new Log(
    t,
    [1, 2, 3, 4, 5].map((seq) => lineOf(seq)),
  )
  writeFileSync(log.path, log.wanted)
  const size = Buffer.byteLength(log.wanted)
  const third = { seq: 3, offset: Buffer.byteLength(log.lines.slice(0, 3).join('\n')) + 1 }
  for (const verified of [NOTHING, third, log.end]) {
    for (let cut = 0; cut <= size; cut += 1) {
      truncateSync(log.path, cut)
      const mirror = new LogMirror(log.path, log.source, { verified, onSetAside: () => undefined })
      mirror.repair()
      assert.equal(log.file, log.wanted, `cut at ${cut}, known to be good up to ${verified.seq}`)
      assert.deepEqual(mirror.position, log.end)
      mirror.close()
    }
  }
})

test('D34: bytes after the last line are cut', (t) => {
  const log = new Log(t, [lineOf(1), lineOf(2)])
  for (const verified of [NOTHING, log.end]) {
    for (const extra of [
      '{',
      `${lineOf(3)}\n`,
      `${lineOf(3)}\n${lineOf(4)}\n{"seq"`,
      '\n',
      '\0',
      `${lineOf(2)}\n`,
    ]) {
      writeFileSync(log.path, log.wanted + extra)
      log.mirror(t, verified).repair()
      assert.equal(log.file, log.wanted, JSON.stringify(extra))
      assert.deepEqual(log.setAside, [], JSON.stringify(extra))
    }
  }
})

test('D34: lines that another program appended are moved to another file before they are cut', (t) => {
  const note = 'a note by hand'
  const own = JSON.stringify({ at: 'now', by: 'another program' })
  const known = `${lineOf(3, 'never committed')}\n`
  for (const [appended, kept] of [
    [`${note}\n`, `${note}\n`],
    [note, `${note}\n`],
    [`${own}\n${known}`, `${own}\n`],
    [`${known}${own}\n${own}`, `${own}\n${own}\n`],
    [`${lineOf(1, 'changed')}\n`, `${lineOf(1, 'changed')}\n`],
    [`${lineOf(77)}\n`, `${lineOf(77)}\n`],
  ] as const) {
    const log = new Log(t, [lineOf(1), lineOf(2)])
    writeFileSync(log.path, log.wanted)
    const mirror = log.mirror(t)
    mirror.repair()
    for (const number of [1, 2]) {
      appendFileSync(log.path, appended)
      log.append(mirror, lineOf(log.lines.length + 1))
      assert.equal(log.file, log.wanted)
      const file = join(dirname(log.path), `provenance.set-aside-${number}.jsonl`)
      assert.equal(readFileSync(file, 'utf8'), number === 1 ? kept : kept.replace(known, ''))
      assert.deepEqual(log.setAside[number - 1], { file, lines: kept.split('\n').length - 1 })
      // The line with seq 3 is one of the store now, so that another one is not what a transaction left.
      if (appended.includes(known)) break
    }
  }
})

test('D34: nothing is cut while the lines of another program cannot be saved, nor written through a link', (t) => {
  const log = new Log(t, [lineOf(1)])
  const elsewhere = join(dirname(log.path), 'elsewhere')
  symlinkSync(elsewhere, join(dirname(log.path), 'provenance.set-aside-1.jsonl'))
  const mirror = log.mirror(t)
  mirror.repair()
  appendFileSync(log.path, 'a note\n')
  log.append(mirror, lineOf(2))
  assert.equal(existsSync(elsewhere), false)
  assert.equal(readFileSync(join(dirname(log.path), 'provenance.set-aside-2.jsonl'), 'utf8'), 'a note\n')

  const full = join(dirname(log.path), `provenance.set-aside-${Number.MAX_SAFE_INTEGER}.jsonl`)
  writeFileSync(full, '')
  rmSync(join(dirname(log.path), 'provenance.set-aside-1.jsonl'))
  mkdirSync(join(dirname(log.path), `provenance.set-aside-${Number.MAX_SAFE_INTEGER + 1}.jsonl`))
  appendFileSync(log.path, 'another note\n')
  assert.throws(() => log.append(mirror, lineOf(3)), { type: 'RecordsError', message: /could not be moved/ })
  assert.match(log.file, /another note\n$/)
})

test('D34: a log that was deleted, moved or replaced while it was open is written again at its path', (t) => {
  const log = new Log(t, [lineOf(1), lineOf(2)])
  const mirror = log.mirror(t)
  mirror.repair()
  rmSync(log.path)
  log.append(mirror, lineOf(3))
  assert.equal(log.file, log.wanted)

  renameSync(log.path, `${log.path}.old`)
  log.append(mirror, lineOf(4))
  assert.equal(log.file, log.wanted)
  assert.doesNotMatch(readFileSync(`${log.path}.old`, 'utf8'), /"seq":4/)

  // An editor saves by renaming: here an older copy.
  renameSync(`${log.path}.old`, log.path)
  log.append(mirror, lineOf(5))
  assert.equal(log.file, log.wanted)

  writeFileSync(`${log.path}.new`, 'damaged\n')
  renameSync(`${log.path}.new`, log.path)
  assert.throws(() => log.append(mirror, lineOf(6)), {
    type: 'RecordsError',
    message: /^provenance\.jsonl:1: /,
  })
  assert.equal(log.file, 'damaged\n')
  rmSync(log.path)
  mirror.repair()
  assert.equal(log.file, log.wanted)

  const outside = `${log.path}.outside`
  rmSync(log.path)
  symlinkSync(outside, log.path)
  assert.throws(() => log.append(mirror, lineOf(7)), { type: 'RecordsError', message: /removed or replaced/ })
  assert.equal(existsSync(outside), false)
})

test('D34: lines that differ from the source are written again if nothing was recorded of them', (t) => {
  const log = new Log(
    t,
    [1, 2, 3, 4].map((seq) => lineOf(seq)),
  )
  const second = { seq: 2, offset: Buffer.byteLength(log.lines.slice(0, 2).join('\n')) + 1 }
  for (const [verified, place] of [
    [NOTHING, 0],
    [NOTHING, 2],
    [second, 2],
    [second, 3],
  ] as const) {
    writeFileSync(
      log.path,
      log.lines
        .toSpliced(place, 1, 'x'.repeat(30))
        .map((line) => `${line}\n`)
        .join(''),
    )
    log.mirror(t, verified).repair()
    assert.equal(log.file, log.wanted)
  }
})

test('D34: damage in the verified part is refused with its line, and nothing is changed', (t) => {
  const log = new Log(
    t,
    [1, 2, 3, 4].map((seq) => lineOf(seq)),
  )
  for (const place of [0, 1, 2, 3]) {
    const damaged = log.lines
      .toSpliced(place, 1, 'damaged')
      .map((line) => `${line}\n`)
      .join('')
    writeFileSync(log.path, damaged)
    const mirror = log.mirror(t, log.end)
    for (let attempt = 0; attempt < 2; attempt += 1) {
      assert.throws(
        () => mirror.repair(),
        (error) => {
          assert.ok(error instanceof RecordsError)
          assert.match(error.message, new RegExp(`^provenance\\.jsonl:${place + 1}: `))
          return true
        },
      )
    }
    assert.equal(log.file, damaged)
  }
})

test('D34: lines of another process are read before own lines are appended', (t) => {
  const log = new Log(t, [lineOf(1)])
  const [one, other] = [log.mirror(t), log.mirror(t)]
  one.repair()
  other.repair()
  for (let seq = 2; seq < 10; seq += 2) {
    log.append(one, lineOf(seq, 'one'))
    log.append(other, lineOf(seq + 1, 'other'))
    assert.equal(log.file, log.wanted)
  }
})

test('D34: a line that another process did not commit is cut by the next append', (t) => {
  const log = new Log(t)
  const mirror = log.mirror(t)
  mirror.repair()
  for (let seq = 1; seq < 4; seq += 1) {
    appendFileSync(log.path, `${lineOf(seq, 'never committed')}\n`)
    log.append(mirror, lineOf(seq))
    assert.equal(log.file, log.wanted)
  }
})

test('lines of a failed transaction are removed', (t) => {
  const log = new Log(t, [lineOf(1)])
  const mirror = log.mirror(t)
  mirror.repair()
  const { position } = mirror
  mirror.append([halves(lineOf(2, 'failed'))], 2)
  mirror.rewind(position, true)
  assert.equal(log.file, log.wanted)
  log.append(mirror, lineOf(2))
  assert.equal(log.file, log.wanted)
})

test('an append that fails half-way, as on a full disk, leaves no partial line', (t) => {
  const log = new Log(t, [lineOf(1)])
  const mirror = log.mirror(t)
  mirror.repair()
  const failing: LineText = {
    get start(): string {
      throw new Error('ENOSPC')
    },
    end: '',
  }
  assert.throws(() => mirror.append([halves(lineOf(2, 'x'.repeat(600_000))), failing], 3), /ENOSPC/)
  assert.equal(log.file, log.wanted)
  log.append(mirror, lineOf(2))
  assert.equal(log.file, log.wanted)
})

test('without the lock the file is unchanged, and the next append repairs it', (t) => {
  const log = new Log(t, [lineOf(1)])
  const mirror = log.mirror(t)
  mirror.repair()
  const { position } = mirror
  mirror.append([halves(lineOf(2, 'failed'))], 2)
  const { size } = statSync(log.path)
  mirror.rewind(position, false)
  assert.equal(statSync(log.path).size, size)
  log.append(mirror, lineOf(2))
  assert.equal(log.file, log.wanted)
})

test('a long log is written in pieces', (t) => {
  const text = 'é'.repeat(100_000)
  const log = new Log(
    t,
    Array.from({ length: 40 }, (_, index) => lineOf(index + 1, text)),
  )
  const mirror = log.mirror(t)
  mirror.repair()
  assert.ok(log.file === log.wanted)
  assert.deepEqual(mirror.position, log.end)
  // The last line known to be good is found by reading backwards.
  log.mirror(t, log.end).repair()
  assert.ok(log.file === log.wanted)
})

/** Returns a line from which values were erased. */
function erasedLine(line: string): string {
  const text = withoutValues(line, { recordId: 'x', isErased: () => true })
  assert.ok(text)
  return text
}

test('lines from which values were erased are written anew, and what is killed over it is completed', (t) => {
  const told = (seq: number): string =>
    JSON.stringify({
      seq,
      at: '',
      actor: 'a',
      source: 'write',
      record_id: 'x',
      values: { a: `secret ${seq}` },
      previous: { a: null },
    })
  const other = JSON.stringify({
    seq: 2,
    at: '',
    actor: 'a',
    source: 'write',
    record_id: 'y',
    values: {},
    previous: {},
  })
  const before = [told(1), other, told(3)]
  const erased = [erasedLine(told(1)), other, erasedLine(told(3))]
  const said = lineOf(4)
  for (const isCommitted of [true, false]) {
    for (const place of [0, 1, 2, 3, 4]) {
      const log = new Log(t, before)
      const mirror = log.mirror(t)
      mirror.repair()
      const { position } = mirror
      // The process is killed when so many lines are in the file, before or after its commit.
      writeFileSync(
        log.path,
        [...erased, said]
          .slice(0, place)
          .map((line) => `${line}\n`)
          .join(''),
      )
      if (isCommitted) log.lines.splice(0, before.length, ...erased, said)
      for (const next of [log.mirror(t, position), mirror]) {
        next.repair()
        assert.equal(log.file, log.wanted)
      }
      assert.deepEqual(log.setAside, [])
    }
  }
  const log = new Log(t, before)
  const mirror = log.mirror(t)
  mirror.repair()
  const reader = log.mirror(t, mirror.position)
  log.lines.splice(0, before.length, ...erased, said)
  mirror.distrust()
  mirror.repair()
  assert.equal(log.file, log.wanted)
  assert.deepEqual(log.setAside, [])
  // Another process appends to the file that it finds.
  log.append(reader, lineOf(5))
  assert.equal(log.file, log.wanted)
})
