import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { Writable } from 'node:stream'
import { request } from 'undici'

/** Reads a large response as fast as it arrives, and writes it to a file if one is named. */
export async function download(url: string, path?: string): Promise<void> {
  const { statusCode, body } = await request(url)
  if (statusCode !== 200) throw new Error(`${url} -> ${statusCode}: ${(await body.text()).slice(0, 300)}`)
  await pipeline(body, path === undefined ? nowhere() : createWriteStream(path))
}

function nowhere(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() })
}
