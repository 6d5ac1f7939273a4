import { Worker } from 'node:worker_threads'
import type { Field } from '../contract/contract.ts'
import { fromPlainError } from '../errors/service-error.ts'
import type { FileFormat } from './io/file-format.ts'
import type { FormatReply, FormatMessage, FormatThreadData } from './format-protocol.ts'
import type { RecordPages } from './io/record-pages.ts'
import { threadError, ThreadMessages } from './io/thread-messages.ts'
import { writeRecordFile } from './write-record-file.ts'

/**
 * For the objects of pages, which are garbage soon. Without a bound V8 makes this larger and larger the longer the export takes,
 * some 100 MB more.
 */
const YOUNG_MB = 16

/**
 * The same bytes as those of {@link writeRecordFile}, made in a thread of its own: a row group of Parquet takes a fifth of
 * a second, for which nobody else should wait. JSON, of which nothing is made, is written here.
 */
export async function* writeInThread(
  format: FileFormat,
  { fields, pages }: { readonly fields: readonly Field[]; readonly pages: RecordPages },
  { raw, delimiter }: { readonly raw: boolean; readonly delimiter: string | null },
): AsyncGenerator<Uint8Array> {
  if (format === 'json') return yield* writeRecordFile(format, { fields, pages })
  // The same extension as this file's: TypeScript in the repository, JavaScript in the package.
  const extension = import.meta.url.slice(import.meta.url.lastIndexOf('.'))
  const worker = new Worker(new URL(`./format-thread${extension}`, import.meta.url), {
    workerData: { format, fields, raw, delimiter } satisfies FormatThreadData,
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
  })
  const inbox = new ThreadMessages<FormatMessage>(worker)
  const answer = (message: FormatReply): void => worker.postMessage(message)
  const page = pages[Symbol.asyncIterator]()
  try {
    for (;;) {
      const message = await inbox.next()
      switch (message.kind) {
        case 'page': {
          const next = await page.next()
          answer({ kind: 'page', page: next.done === true ? null : next.value })
          break
        }
        case 'bytes':
          yield message.bytes
          answer({ kind: 'taken' })
          break
        case 'end':
          return
        case 'refused':
          throw fromPlainError(message.error)
        case 'broken':
          throw threadError(message.stack)
      }
    }
  } finally {
    await worker.terminate()
    await page.return?.()
  }
}
