import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fromBase64, toBase64 } from './bytes.ts'
import { checkpointBody, formatNote, parseNote, parseNotes, signatureState } from './checkpoint.ts'
import { NoteSigner, sha256, verifySignature } from './node-primitives.ts'
import { formatKey, parseKey, parseSecret } from './note-keys.ts'

// The example of the package golang.org/x/mod/sumdb/note.
const GO_KEY = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW'
const GO_SECRET = 'PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz'
const GO_SIGNATURE =
  '— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM='
const GO_TEXT =
  "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"

const root = sha256(Buffer.from('root'))
const body = checkpointBody({ origin: 'colophon/0011', size: 42, root })

test('keys and signatures are those of signed notes in Go', () => {
  const key = parseKey(sha256, GO_KEY)
  assert.ok(key)
  assert.equal(formatKey(key), GO_KEY)
  const signer = NoteSigner.read(`${GO_SECRET}\n`)
  assert.equal(signer === null ? null : formatKey(signer.key), GO_KEY)
  assert.equal(signer?.sign(GO_TEXT), `${GO_TEXT}\n${GO_SIGNATURE}\n`)
})

test('a text that is no key is none', () => {
  const edited = [
    GO_KEY.replace('c74f20a3', 'c74f20a4'),
    GO_KEY.replace('+AR', '+AS'),
    GO_KEY.slice(0, -4),
    GO_KEY.replace('PeterNeumann', 'Peter Neumann'),
    GO_KEY.replace('PeterNeumann', ''),
    '',
    GO_SECRET,
  ]
  for (const text of edited) assert.equal(parseKey(sha256, text), null, text)
  assert.equal(parseSecret(GO_KEY), null)
  assert.equal(NoteSigner.read(GO_SECRET.replace('c74f20a3', 'c74f20a4')), null)
})

test('a checkpoint is read as it was written, with and without signatures', () => {
  const { signer, secret } = NoteSigner.create('sheet.example')
  assert.deepEqual(NoteSigner.read(secret)?.key, signer.key)
  const signed = signer.sign(body)
  const note = parseNote(signed)
  assert.ok(note)
  assert.deepEqual(
    { origin: note.origin, size: note.size, root: toBase64(note.root), text: note.text },
    { origin: 'colophon/0011', size: 42, root: toBase64(root), text: signed },
  )
  assert.equal(signatureState(note, signer.key, verifySignature), 'signed')
  const { signer: other } = NoteSigner.create('sheet.example')
  assert.equal(signatureState(note, other.key, verifySignature), 'none')
  const unsigned = formatNote(body, [])
  assert.deepEqual(parseNote(unsigned)?.signatures, [])
  assert.deepEqual(
    parseNotes([signed, unsigned, signed].join('\n')).map((each) => each?.text),
    [signed, unsigned, signed],
  )
})

test('an edited checkpoint is not signed', () => {
  const { signer } = NoteSigner.create('k')
  const signed = signer.sign(body)
  for (const edited of [signed.replace('\n42\n', '\n43\n'), signed.replace('0011', '0012')]) {
    const note = parseNote(edited)
    assert.ok(note)
    assert.equal(signatureState(note, signer.key, verifySignature), 'invalid')
  }
})

test('a text that is no checkpoint is none', () => {
  const signed = NoteSigner.create('k').signer.sign(body)
  const texts = [
    '',
    'colophon/0011\n42\n',
    signed.replace('\n42\n', '\n042\n'),
    signed.replace('\n42\n', '\n-1\n'),
    signed.replace('\n42\n', '\n1e3\n'),
    signed.replace('\n42\n', '\n9999999999999999\n'),
    signed.replace(toBase64(root), 'AAAA'),
    signed.replace('— k ', '— k  '),
    signed.replace('— k ', '— k k '),
    `${signed}\n${signed}`,
  ]
  for (const text of texts) assert.equal(parseNote(text), null, JSON.stringify(text))
})

test('base64 is read only as it is written', () => {
  assert.deepEqual(fromBase64('AQI='), Uint8Array.of(1, 2))
  for (const text of ['AQI', 'AQJ=', 'AQI=\n', 'A', '_-8=']) assert.equal(fromBase64(text), null, text)
})
