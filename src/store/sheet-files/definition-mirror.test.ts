import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import fs, {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { ChangedFile } from '../definition-change.ts'
import { DefinitionMirror } from './definition-mirror.ts'

interface Made {
  readonly directory: string
  readonly mirror: DefinitionMirror
  read(path: string): string | null
  write(path: string, text: string): void
}

/** Makes a directory with a contract and a derivation, beside which nothing must be written. */
function make(t: TestContext): Made {
  const parent = mkdtempSync(join(tmpdir(), 'colophon-mirror-'))
  t.after(() => {
    const others = readdirSync(parent)
    rmSync(parent, { recursive: true })
    assert.deepEqual(others, ['sheet'], 'nothing was written beside the sheet')
  })
  const directory = join(parent, 'sheet')
  mkdirSync(join(directory, 'derivations'), { recursive: true })
  const made: Made = {
    directory,
    mirror: new DefinitionMirror(directory),
    read: (path) => (existsSync(join(directory, path)) ? readFileSync(join(directory, path), 'utf8') : null),
    write: (path, text) => writeFileSync(join(directory, path), text),
  }
  made.write('contract.yaml', 'old')
  made.write('derivations/a.yaml', 'old')
  return made
}

function changed(path: string, before: string | null, after: string | null): ChangedFile {
  const bytesOf = (text: string | null): Uint8Array | null => (text === null ? null : Buffer.from(text))
  return { path, before: bytesOf(before), after: bytesOf(after) }
}

const CHANGES = [
  changed('contract.yaml', 'old', 'new'),
  changed('derivations/a.yaml', 'old', null),
  changed('derivations/b.yaml', null, 'new'),
]

test('settled files have the texts after, whether or not they were prepared, and again', (t) => {
  for (const isPrepared of [true, false]) {
    const { mirror, read, directory } = make(t)
    if (isPrepared) mirror.prepare(CHANGES)
    assert.equal(read('contract.yaml'), 'old')
    for (let times = 0; times < 2; times += 1) assert.deepEqual(mirror.settle(CHANGES), [])
    assert.deepEqual([read('contract.yaml'), read('derivations/b.yaml')], ['new', 'new'])
    assert.deepEqual(readdirSync(join(directory, 'derivations')), ['b.yaml'])
    assert.deepEqual(readdirSync(directory).toSorted(), ['contract.yaml', 'derivations'])
  }
})

test('a file that an editor saved since keeps its text, and is reported', (t) => {
  const { mirror, read, write } = make(t)
  mirror.prepare(CHANGES)
  write('contract.yaml', 'by hand')
  write('derivations/b.yaml', 'by hand')
  assert.deepEqual(mirror.settle(CHANGES), ['contract.yaml', 'derivations/b.yaml'])
  assert.deepEqual([read('contract.yaml'), read('derivations/b.yaml')], ['by hand', 'by hand'])
  assert.equal(read('derivations/a.yaml'), null)
})

test('what an editor saves at the very moment of the replacement stays, and is reported', (t) => {
  const { mirror, directory, read, write } = make(t)
  mirror.prepare(CHANGES)
  const path = (file: string): string => join(directory, file)
  /** Has an editor save a file right before a call of the file system for it. */
  const saveBefore = (call: 'renameSync' | 'rmSync' | 'linkSync', target: string, place: 0 | 1): void => {
    const original = fs[call] as (...given: unknown[]) => void
    let isDone = false
    t.mock.method(fs, call, (...given: unknown[]) => {
      if (!isDone && given[place] === path(target)) {
        isDone = true
        write(target, 'by hand')
      }
      original(...given)
    })
  }
  saveBefore('renameSync', 'contract.yaml', 1)
  saveBefore('rmSync', 'derivations/a.yaml', 0)
  saveBefore('linkSync', 'derivations/b.yaml', 1)
  syncBuiltinESMExports()
  try {
    assert.deepEqual(
      mirror.settle(CHANGES),
      CHANGES.map((file) => file.path),
    )
  } finally {
    t.mock.restoreAll()
    syncBuiltinESMExports()
  }
  for (const file of CHANGES) assert.equal(read(file.path), 'by hand')
  assert.deepEqual(readdirSync(directory).toSorted(), ['contract.yaml', 'derivations'])
  assert.deepEqual(readdirSync(path('derivations')).toSorted(), ['a.yaml', 'b.yaml'])
})

test('a file that differs from the base, is gone or is new is found', (t) => {
  const { mirror, write } = make(t)
  const sha256 = createHash('sha256').update('old').digest('hex')
  const base = ['contract.yaml', 'derivations/a.yaml'].map((path) => ({ path, sha256 }))
  assert.equal(mirror.firstDifference(base), null)
  assert.equal(mirror.firstDifference([...base, { path: 'derivations/c.yaml', sha256: null }]), null)
  assert.equal(
    mirror.firstDifference([...base, { path: 'derivations/c.yaml', sha256 }]),
    'derivations/c.yaml',
  )
  write('derivations/.hidden.yaml', 'x')
  write('derivations/b.yaml', 'x')
  assert.equal(mirror.firstDifference(base), 'derivations/b.yaml')
  write('contract.yaml', 'other')
  assert.equal(mirror.firstDifference(base), 'contract.yaml')
})

test('no other path is written, whatever a store from an untrusted source has', (t) => {
  const { mirror, read, write } = make(t)
  write('transport.yaml', 'old')
  const paths = [
    '../evil.yaml',
    'derivations/../../evil.yaml',
    'derivations/../contract.yaml',
    'derivations/.hidden.yaml',
    'derivations/a\\b.yaml',
    'derivations/a\u0000.yaml',
    'transport.yaml',
    'sheet.db',
    '/tmp/evil.yaml',
    '../evil.md',
    'prompts/../../evil.md',
    'prompts//evil.md',
    '.git/evil.md',
    '/tmp/evil.md',
    '',
  ]
  const files = paths.flatMap((path) => [changed(path, null, 'evil'), changed(path, 'old', 'evil')])
  assert.equal(mirror.settle(files).length, files.length)
  assert.deepEqual([read('contract.yaml'), read('transport.yaml')], ['old', 'old'])
  for (const path of paths) assert.throws(() => mirror.prepare([changed(path, null, 'evil')]))
})

test('the file of a prompt is edited, and neither created nor removed', (t) => {
  const { mirror, directory, read, write } = make(t)
  const path = 'prompts/firms/one.md'
  mkdirSync(join(directory, 'prompts/firms'), { recursive: true })
  write(path, 'old')
  for (const file of [changed('new.md', null, 'new'), changed(path, 'old', null)]) {
    assert.throws(() => mirror.prepare([file]), /not a definition file/)
    assert.deepEqual(mirror.settle([file]), [file.path])
  }
  assert.deepEqual([read('new.md'), read(path)], [null, 'old'])
  mirror.prepare([changed(path, 'old', 'new')])
  assert.deepEqual(mirror.settle([changed(path, 'old', 'new')]), [])
  assert.equal(read(path), 'new')
  symlinkSync('firms', join(directory, 'prompts/link'))
  assert.throws(
    () => mirror.prepare([changed('prompts/link/one.md', 'new', 'evil')]),
    /prompts\/link is a symbolic link/,
  )
})

test('links are refused, and nothing is written through them', (t) => {
  const { mirror, directory, read, write } = make(t)
  write('other.yaml', 'old')
  symlinkSync('../other.yaml', join(directory, 'derivations/link.yaml'))
  const link = changed('derivations/link.yaml', 'old', 'new')
  assert.throws(() => mirror.prepare([link]), /derivations\/link\.yaml is a symbolic link/)
  assert.deepEqual(mirror.settle([link]), ['derivations/link.yaml'])
  assert.equal(read('other.yaml'), 'old')
  // What lies where the new text is prepared is replaced, not followed.
  mirror.prepare(CHANGES)
  const prepared = readdirSync(directory).find((name) => name.startsWith('.colophon-')) ?? ''
  rmSync(join(directory, prepared))
  symlinkSync('other.yaml', join(directory, prepared))
  mirror.settle(CHANGES)
  assert.deepEqual([read('contract.yaml'), read('other.yaml')], ['new', 'old'])
  const { mirror: second, directory: place, read: readSecond } = make(t)
  rmSync(join(place, 'derivations'), { recursive: true })
  symlinkSync('.', join(place, 'derivations'))
  assert.throws(
    () => second.prepare([changed('derivations/c.yaml', null, 'new')]),
    /derivations is a symbolic link/,
  )
  assert.equal(readSecond('c.yaml'), null)
})

test('another name of the same file keeps its text, since the file is replaced', (t) => {
  const { mirror, directory, read } = make(t)
  linkSync(join(directory, 'contract.yaml'), join(directory, 'copy.yaml'))
  mirror.settle(CHANGES)
  assert.deepEqual([read('contract.yaml'), read('copy.yaml')], ['new', 'old'])
  assert.equal(statSync(join(directory, 'contract.yaml')).nlink, 1)
})

test('what cannot be prepared leaves nothing behind', (t) => {
  const { mirror, directory, read } = make(t)
  mirror.prepare(CHANGES)
  const names = readdirSync(join(directory, 'derivations')).filter((name) => name.startsWith('.colophon-'))
  mirror.discard(CHANGES)
  const [name = ''] = names
  mkdirSync(join(directory, 'derivations', name))
  assert.throws(() => mirror.prepare(CHANGES), {
    code: 'output_failed',
    message: /^derivations\/b\.yaml cannot be written/,
  })
  assert.deepEqual(readdirSync(directory).toSorted(), ['contract.yaml', 'derivations'])
  assert.equal(read('contract.yaml'), 'old')
})
