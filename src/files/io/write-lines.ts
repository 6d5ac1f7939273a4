import { open } from 'node:fs/promises'

/** The characters to collect before they are written. */
const CHUNK = 1 << 20

/** Writes texts into a new file in constant memory. Throws when the file exists. */
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
