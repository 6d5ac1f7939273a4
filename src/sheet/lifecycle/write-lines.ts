import { open } from 'node:fs/promises'

/** Characters that are collected before they are written. */
const CHUNK = 1 << 20

/** Writes texts into a new file, one after the other, in flat memory. Throws where there is such a file. */
export async function writeLines(path: string, texts: AsyncIterable<string>): Promise<void> {
  const file = await open(path, 'wx')
  try {
    let waiting: string[] = []
    let size = 0
    for await (const text of texts) {
      waiting.push(text)
      size += text.length
      if (size < CHUNK) continue
      await file.writeFile(waiting.join(''))
      waiting = []
      size = 0
    }
    await file.writeFile(waiting.join(''))
  } finally {
    await file.close()
  }
}
