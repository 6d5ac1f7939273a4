import assert from 'node:assert/strict'
import { appendFile, chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { parseNote, parseNotes, signatureState } from '../../src/proof/checkpoint.ts'
import { fromBase64 } from '../../src/proof/bytes.ts'
import { checkProof, parseProof } from '../../src/proof/entry-proof.ts'
import { isConsistent, isEqual, RootHasher } from '../../src/proof/merkle.ts'
import { parseKey } from '../../src/proof/note-keys.ts'
import { leafOfLine, sha256, verifySignature } from '../../src/proof/node-primitives.ts'
import { OperationError, RecordsError, ServiceError, SheetError } from '../../src/errors/service-error.ts'
import { changeContractField, type FieldChange } from '../../src/sheet/definition/change/change-fields.ts'
import { makeCheckpoint, proveConsistency, proveEntry, readCheckpoint } from '../../src/sheet/proof/prove.ts'
import { createSignKey } from '../../src/sheet/log/sign-key.ts'
import { openSheet } from '../../src/sheet/open-sheet.ts'
import type { Sheet } from '../../src/sheet/sheet.ts'
import { isProofFile, verifyProof, type ProofVerification } from '../../src/sheet/verify/verify-proof.ts'
import type { VerifyOptions } from '../../src/sheet/verify/verify-sheet.ts'
import { deleteRecords } from '../../src/sheet/writes/delete-records.ts'
import { upsertRecords } from '../../src/sheet/writes/upsert-records.ts'
import { copiesOf } from '../support/sheet-copies.ts'
import { openOnEngine, skipOnPostgres } from '../support/engine.ts'
import { onEnd } from '../support/on-end.ts'
import { writeSheet } from '../support/sheet-fixture.ts'
import { openLookupSheet, type RunSheet } from '../support/run-fixture.ts'

const ACTOR = 'human:ann'

async function openSmall(
  t: TestContext,
  options: Parameters<typeof openLookupSheet>[2] = {},
): Promise<RunSheet> {
  return openLookupSheet(
    t,
    [
      { id: 'x', a: 'one' },
      { id: 'y', a: 'two' },
    ],
    options,
  )
}

async function write(sheet: Sheet, ...records: readonly Record<string, string>[]): Promise<void> {
  await upsertRecords(sheet, { records: [...records], actor: ACTOR })
}

/** Writes records, each a line of the log. */
async function writeMany(sheet: Sheet, count: number, prefix: string): Promise<void> {
  await write(
    sheet,
    ...Array.from({ length: count }, (_, index) => ({ id: `${prefix}${index}`, a: `${index}` })),
  )
}

/** Returns the texts of all lines of the log. */
async function linesOf(sheet: Sheet): Promise<readonly string[]> {
  const { tree } = (await sheet.current()).store
  const lines: string[] = []
  for (;;) {
    const line = await tree.line(lines.length + 1)
    if (line === null) return lines
    lines.push(line)
  }
}

function rootOf(lines: readonly string[]): Uint8Array {
  const hasher = new RootHasher(sha256)
  for (const line of lines) hasher.add(leafOfLine(line))
  return hasher.root()
}

test('a run ends with a checkpoint of all lines of the log', async (t) => {
  const opened = await openSmall(t)
  await assert.rejects(readCheckpoint(opened.sheet), SheetError)
  await opened.run()
  // In the background, which closing waits for.
  await opened.sheet.close()
  const sheet = await openOnEngine(opened.directory)
  onEnd(t, () => sheet.close())
  const first = await readCheckpoint(sheet)
  const lines = await linesOf(sheet)
  assert.equal(lines.length, 3)
  assert.deepEqual([first.size, first.seq, first.signers], [3, 3, []])
  assert.ok(isEqual(fromBase64(first.root) ?? new Uint8Array(), rootOf(lines)))
  assert.match(first.origin, /^colophon\/[0-9a-f]{16}$/)
  assert.equal((await makeCheckpoint(sheet)).note, first.note)
  await write(sheet, { id: 'x', a: 'three' })
  const second = await makeCheckpoint(sheet)
  assert.deepEqual([second.size, second.origin], [4, first.origin])
})

test('every entry is proved, and every state is the beginning of a later one', async (t) => {
  const { sheet } = await openSmall(t)
  await writeMany(sheet, 600, 'r')
  await deleteRecords(sheet, { ids: ['r3'], actor: ACTOR })
  const { size, root } = await makeCheckpoint(sheet)
  const lines = await linesOf(sheet)
  assert.equal(size, lines.length)
  for (const [index, line] of lines.entries()) {
    if (index % 37 !== 0 && index < 590) continue
    const proof = await proveEntry(sheet, { seq: index + 1 })
    assert.equal(proof.line, line)
    const read = parseProof(JSON.stringify(proof))
    assert.ok(read)
    const { faults } = checkProof({ sha256, verify: verifySignature }, read, null)
    assert.deepEqual([faults, read.checkpoint.size], [[], size])
  }
  for (const from of [1, 255, 256, 257, 512, size]) {
    const { hashes } = await proveConsistency(sheet, { from, to: null })
    const tree = {
      from,
      size,
      old: rootOf(lines.slice(0, from)),
      root: fromBase64(root) as Uint8Array,
      proof: hashes.map((hash) => fromBase64(hash) as Uint8Array),
    }
    assert.ok(isConsistent(sha256, tree), String(from))
  }
  assert.deepEqual((await proveConsistency(sheet, { from: 2, to: 3 })).hashes.length, 1)
  for (const [from, to] of [
    [0, 3],
    [4, 3],
    [1, size + 1],
  ] as const) {
    await assert.rejects(proveConsistency(sheet, { from, to }), OperationError)
  }
})

test('a cell is proved with the entry that explains its value', async (t) => {
  const opened = await openSmall(t)
  const { sheet } = opened
  await opened.run()
  await makeCheckpoint(sheet)
  await write(sheet, { id: 'x', a: 'three' })
  await assert.rejects(
    proveEntry(sheet, { recordId: 'x', field: 'a' }),
    /covers 3 lines of the log, and entry 4 is line 4/,
  )
  await makeCheckpoint(sheet)
  const { cell, seq, line } = await proveEntry(sheet, { recordId: 'x', field: 'a' })
  assert.deepEqual([cell, seq], [{ record_id: 'x', field: 'a', value: 'three' }, 4])
  assert.match(line, /"values":\{"a":"three"\}/)
  const computed = await proveEntry(sheet, { recordId: 'y', field: 'b' })
  assert.deepEqual(computed.cell, { record_id: 'y', field: 'b', value: '<two>' })
  await assert.rejects(proveEntry(sheet, { seq: 5 }), /the log has no entry 5/)
  await assert.rejects(proveEntry(sheet, { recordId: 'z', field: 'a' }), SheetError)
})

test('a cell is proved after its field was renamed and converted', async (t) => {
  const { sheet } = await openSmall(t)
  await write(sheet, { id: 'x', a: '7' })
  const change = async (edit: Partial<FieldChange>): Promise<void> => {
    const all = { onInvalid: 'refuse', editInputs: true, ...edit } as const
    const request = { actor: ACTOR, note: null, ifMatch: null, dryRun: false, change: all }
    await changeContractField(sheet, edit.newName === undefined ? 'c' : 'a', request)
    await makeCheckpoint(sheet)
  }
  const proved = async (recordId: string, field = 'c'): Promise<readonly unknown[]> => {
    const proof = await proveEntry(sheet, { recordId, field })
    const read = parseProof(JSON.stringify(proof))
    assert.ok(read)
    const { faults, value } = checkProof({ sha256, verify: verifySignature }, read, null)
    return [proof.cell?.field, proof.cell?.value, value, faults]
  }
  await change({ newName: 'c' })
  // The line and the imported file have the name of their time.
  assert.deepEqual(await proved('x'), ['a', '7', 'in the line', []])
  assert.deepEqual(await proved('x', 'a'), await proved('x', 'c'))
  assert.deepEqual(await proved('y'), ['a', 'two', 'in an imported file', []])
  await change({ logicalType: 'integer', onInvalid: 'null' })
  assert.deepEqual(await proved('x'), ['c', 7, 'by a conversion', []])
})

test('a process that writes many lines makes checkpoints on the way', async (t) => {
  const { sheet, directory } = await openSmall(t)
  for (const prefix of ['a', 'b', 'c']) await writeMany(sheet, 4000, prefix)
  await sheet.close()
  const again = await openOnEngine(directory)
  onEnd(t, () => again.close())
  assert.ok((await readCheckpoint(again)).size > 10_000)
})

test('checkpoints are signed with the key, and published', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'colophon-keys-'))
  onEnd(t, () => rm(folder, { recursive: true }))
  const signKey = join(folder, 'sheet.key')
  const key = parseKey(sha256, createSignKey(signKey, 'sheet.example'))
  assert.ok(key)
  const { directory, sheet: unsigned } = await openSmall(t)
  const before = await makeCheckpoint(unsigned)
  assert.deepEqual(before.signers, [])
  const published = join(folder, 'published')
  const sheet = await openOnEngine(directory, { signKey, publish: `cat >> '${published}'` })
  onEnd(t, () => sheet.close())
  const { note, signers, size } = await makeCheckpoint(sheet)
  assert.deepEqual([signers, size], [['sheet.example'], before.size])
  const read = parseNote(note)
  assert.equal(read === null ? null : signatureState(read, key, verifySignature), 'signed')
  assert.equal(await readFile(published, 'utf8'), note)
  // The last one is as good.
  assert.equal((await makeCheckpoint(unsigned)).note, note)
  assert.equal(await readFile(published, 'utf8'), note)
})

test('a key file is for its owner only, and outside of the sheet', async (t) => {
  if (skipOnPostgres(t)) return
  const directory = await writeSheet(t)
  const inside = join(directory, 'sheet.key')
  createSignKey(inside, 'k')
  const outside = `${directory}.key`
  onEnd(t, () => rm(outside))
  createSignKey(outside, 'k')
  assert.equal((await stat(outside)).mode & 0o777, 0o600)
  const faultOf = async (signKey: string): Promise<string> => {
    const error: unknown = await openSheet(directory, { signKey }).then(
      (sheet) => sheet.close(),
      (thrown: unknown) => thrown,
    )
    return error instanceof ServiceError ? error.message : 'none'
  }
  assert.equal(await faultOf(outside), 'none')
  assert.match(await faultOf(inside), /is in the directory of the sheet, where others may get it/)
  assert.match(await faultOf(`${outside}-2`), /cannot be opened: ENOENT/)
  await chmod(outside, 0o640)
  assert.match(await faultOf(outside), /can be read by others; run `chmod 600`/)
  await chmod(outside, 0o600)
  await writeFile(outside, 'PRIVATE+KEY+k+00000000+AAAA')
  assert.match(await faultOf(outside), /has no private key/)
  assert.throws(() => createSignKey(outside, 'k'), /exists already; a key is never replaced/)
  assert.throws(() => createSignKey(`${outside}-2`, 'two words'), /cannot be named "two words"/)
})

test('a command that cannot publish is an error, and the checkpoint stays', async (t) => {
  if (skipOnPostgres(t)) return
  const { sheet } = await openSmall(t, { publish: 'echo no route >&2; exit 3' })
  await assert.rejects(makeCheckpoint(sheet), /the command of --publish exited with 3: no route/)
  assert.equal((await readCheckpoint(sheet)).size, 1)
})

test('a command that leaves something running does not delay what comes after', async (t) => {
  if (skipOnPostgres(t)) return
  const directory = await mkdtemp(join(tmpdir(), 'colophon-publish-'))
  onEnd(t, () => rm(directory, { recursive: true }))
  const pid = join(directory, 'pid')
  onEnd(t, async () => process.kill(Number(await readFile(pid, 'utf8'))))
  const { sheet } = await openSmall(t, { publish: `sleep 600 & echo $! > '${pid}'` })
  assert.equal((await makeCheckpoint(sheet)).size, 1)
})

test('processes that make the first checkpoint at once agree on one', async (t) => {
  const { sheet, directory } = await openSmall(t)
  const other = await openOnEngine(directory)
  onEnd(t, () => other.close())
  const [one, two] = await Promise.all([makeCheckpoint(sheet), makeCheckpoint(other)])
  assert.equal(one.note, two.note)
  // The one that comes too late may have seen more lines.
  const { tree } = (await sheet.current()).store
  const late = {
    size: one.size + 1,
    seq: one.seq + 1,
    note: one.note.replace(one.origin, 'colophon/late'),
    isSigned: true,
  }
  assert.equal(await tree.addCheckpoint(late), false)
  assert.equal((await readCheckpoint(sheet)).note, one.note)
})

test('checkpoints.txt has all checkpoints, whatever happens to it', async (t) => {
  if (skipOnPostgres(t)) return
  const { sheet, directory } = await openSmall(t)
  const path = join(directory, 'checkpoints.txt')
  const notes: string[] = []
  const another = async (): Promise<void> => {
    await write(sheet, { id: 'x', a: `${notes.length}` })
    notes.push((await makeCheckpoint(sheet)).note)
    assert.deepEqual(
      parseNotes(await readFile(path, 'utf8')).map((note) => note?.text),
      notes,
    )
  }
  await another()
  await another()
  await rm(path)
  await another()
  await appendFile(path, 'x')
  await another()
})

test('checkpoints.txt is as the store has it after the next open, as a kill or a power failure left it', async (t) => {
  if (skipOnPostgres(t)) return
  const { sheet, directory } = await openSmall(t)
  await write(sheet, { id: 'x', a: '1' })
  const { note } = await makeCheckpoint(sheet)
  await sheet.close()
  const path = join(directory, 'checkpoints.txt')
  const whole = await readFile(path, 'utf8')
  // It has one that was not committed, or it is cut, empty or not there.
  for (const left of [`${whole}${note}\n`, whole.slice(0, 20), '', null]) {
    if (left === null) await rm(path)
    else await writeFile(path, left)
    await (await openOnEngine(directory)).close()
    assert.equal(await readFile(path, 'utf8'), whole, `after ${JSON.stringify(left)}`)
  }
})

test('a copy has the checkpoints, and goes on from them', async (t) => {
  const opened = await openSmall(t)
  await opened.run()
  const { note, origin } = await makeCheckpoint(opened.sheet)
  for (const directory of await copiesOf(t, opened.sheet)) {
    assert.equal(await readFile(join(directory, 'checkpoints.txt'), 'utf8'), `${note}\n`)
    const copy = await openOnEngine(directory)
    onEnd(t, () => copy.close())
    assert.equal((await readCheckpoint(copy)).note, note)
    await write(copy, { id: 'x', a: 'four' })
    assert.equal((await makeCheckpoint(copy)).origin, origin)
  }
})

test('a new store takes the checkpoints of its log, and refuses others', async (t) => {
  const { sheet } = await openSmall(t)
  await write(sheet, { id: 'x', a: 'three' })
  const { note, size } = await makeCheckpoint(sheet)
  await write(sheet, { id: 'x', a: 'four' })
  const [copy = ''] = await copiesOf(t, sheet)
  await rm(join(copy, 'sheet.db'))
  const anew = await openOnEngine(copy)
  onEnd(t, () => anew.close())
  assert.equal((await readCheckpoint(anew)).note, note)
  const later = await makeCheckpoint(anew)
  assert.ok(later.size > size)
  await anew.close()

  const log = join(copy, 'provenance.jsonl')
  const text = await readFile(log, 'utf8')
  for (const [changed, fault] of [
    [text.replace('three', 'seven'), /provenance.jsonl is not the log of its checkpoint of 2 lines/],
    [
      text.split('\n').slice(0, 1).join('\n') + '\n',
      /it has a checkpoint of 2 lines, and provenance.jsonl has 1/,
    ],
    [null, /it has a checkpoint of 2 lines, and provenance.jsonl has 0/],
  ] as const) {
    if (skipOnPostgres(t)) return
    await rm(join(copy, 'sheet.db'), { force: true })
    if (changed === null) await rm(log)
    else await writeFile(log, changed)
    const refused = await openOnEngine(copy)
    onEnd(t, () => refused.close())
    await assert.rejects(refused.current(), (error) => {
      assert.ok(error instanceof RecordsError)
      assert.match(error.message, fault)
      return true
    })
  }
})

test('a proof is verified without the sheet, and an imported value with the imported file', async (t) => {
  if (skipOnPostgres(t)) return
  const { sheet, directory } = await openSmall(t)
  await write(sheet, { id: 'x', a: 'three' })
  const { note } = await makeCheckpoint(sheet)
  const folder = await mkdtemp(join(tmpdir(), 'colophon-proofs-'))
  onEnd(t, () => rm(folder, { recursive: true }))
  const given = { checkpoint: null, key: null, source: null, maxBytes: 0 }
  const verified = async (text: string, options: Partial<VerifyOptions> = {}): Promise<ProofVerification> => {
    const path = join(folder, 'proof.json')
    await writeFile(path, text)
    assert.ok(isProofFile(path))
    return verifyProof(path, { ...given, ...options })
  }
  const kept = join(folder, 'kept.txt')
  await writeFile(kept, note)
  const written = JSON.stringify(await proveEntry(sheet, { recordId: 'x', field: 'a' }))
  const holds = await verified(written, { checkpoint: kept })
  assert.deepEqual([holds.faults, holds.isKept, holds.isInSource], [[], true, null])
  assert.match((await verified(written.replaceAll('three', 'seven'))).faults.join(' '), /were changed/)

  const imported = JSON.stringify(await proveEntry(sheet, { recordId: 'y', field: 'a' }))
  assert.deepEqual((await verified(imported)).isInSource, null)
  const source = join(directory, 'records.jsonl')
  assert.deepEqual((await verified(imported, { source })).isInSource, true)
  const other = imported.replace('"value":"two"', '"value":"ten"')
  assert.match(
    (await verified(other, { source })).faults.join(' '),
    /has another value of the field "a": "two"/,
  )
  await appendFile(source, '\n')
  assert.match((await verified(imported, { source })).faults.join(' '), /is not the imported file/)

  await write(sheet, { id: 'x', a: 'four' })
  await writeFile(kept, (await makeCheckpoint(sheet)).note.replace(/^colophon/, 'other'))
  assert.match((await verified(written, { checkpoint: kept })).faults.join(' '), /is of another log/)
  await assert.rejects(verified('{"a":1}'), /proof.json is not a proof/)
  assert.ok(!isProofFile(directory))
})
