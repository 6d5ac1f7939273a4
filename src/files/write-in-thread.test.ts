import assert from 'node:assert/strict'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { test } from 'node:test'
import { contractWith } from '../../test/support/contract-with.ts'
import { ValidationError } from '../errors/service-error.ts'
import { FILE_FORMATS, type FileFormat } from './io/file-format.ts'
import { writeInThread } from './write-in-thread.ts'
import { writeRecordFile } from './write-record-file.ts'

const { fields } = contractWith('{name: text, logicalType: string}', '{name: day, logicalType: date}')

async function* pagesOf(count: number, fault: Error | null = null): AsyncGenerator<Uint8Array> {
  for (let page = 0; page < count; page += 1) {
    const records = Array.from({ length: 500 }, (_, index) => ({
      id: `${page}-${index}`,
      text: `=text ${'x'.repeat((page * index) % 700)}`,
      day: '2024-02-29',
    }))
    await nextTurn()
    yield Buffer.from(JSON.stringify(records))
  }
  if (fault !== null) throw fault
}

async function bytesOf(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = []
  for await (const chunk of chunks) {
    all.push(chunk)
    // A slow reader: pages are asked for while bytes wait to be taken.
    await nextTurn()
  }
  return Buffer.concat(all)
}

function inThread(format: FileFormat, pages: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  return writeInThread(format, { fields, pages }, { raw: false, delimiter: null })
}

for (const format of FILE_FORMATS) {
  test(`${format} is the same from any thread`, async () => {
    const here = await bytesOf(writeRecordFile(format, { fields, pages: pagesOf(30) }))
    const there = await bytesOf(inThread(format, pagesOf(30)))
    assert.ok(here.length > 10_000)
    assert.equal(Buffer.compare(here, there), 0)
  })

  test(`an error of the pages ends ${format}, and so does a reader that stops`, async () => {
    await assert.rejects(bytesOf(inThread(format, pagesOf(30, new Error('gone')))), /^Error: gone$/)
    const pages = pagesOf(1000)
    for await (const _chunk of inThread(format, pages)) break
    assert.equal((await pages.next()).done, true)
  })
}

test('a value that a format cannot hold is reported as in the same thread', async () => {
  async function* pages(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(JSON.stringify([{ id: 'a', text: 'x'.repeat(40_000), day: null }]))
  }
  await assert.rejects(
    bytesOf(inThread('xlsx', pages())),
    (error) =>
      error instanceof ValidationError &&
      error.message.startsWith('record "a", field text: the text has 40000'),
  )
})
