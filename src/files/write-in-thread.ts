import { Worker } from 'node:worker_threads'
import type { Field } from '../contract/contract.ts'
import { fromPlainError } from '../errors/service-error.ts'
import type { FileFormat } from './io/file-format.ts'
import type { FormatReply, FormatMessage, FormatThreadData } from './format-protocol.ts'
import type { RecordPages } from './io/record-pages.ts'
import { threadError, ThreadMessages } from './io/thread-messages.ts'
import { writeRecordFile } from './write-record-file.ts'
import { entryModule } from '../package/package-files.ts'

/** Limits the young generation, in MB. Without a limit V8 enlarges it during long exports, by some 100 MB. */
const YOUNG_MB = 16

/**
 * Returns the same bytes as {@link writeRecordFile}, produced in a thread: a row group of Parquet takes a fifth of a
 * second, which would block other requests. JSON, which is passed through, is written in this thread.
 */
export async function* writeInThread(
  format: FileFormat,
  { fields, pages }: { readonly fields: readonly Field[]; readonly pages: RecordPages },
  { raw, delimiter }: { readonly raw: boolean; readonly delimiter: string | null },
): AsyncGenerator<Uint8Array> {
  if (format === 'json') return yield* writeRecordFile(format, { fields, pages })
  const worker = new Worker(entryModule(import.meta.url, 'format-thread'), {
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
