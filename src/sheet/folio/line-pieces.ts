import type { JsonObject } from '../../contract/json/json.ts'

/** The characters of a piece, at least. */
const PIECE = 1024 * 1024

/** Yields the lines of a JSONL file in pieces: a text has fewer characters than a file may have. */
export function* linePieces(
  objects: Iterable<JsonObject>,
  textOf: (object: JsonObject) => string,
): Generator<string> {
  let piece = ''
  for (const object of objects) {
    piece += `${textOf(object)}\n`
    if (piece.length < PIECE) continue
    yield piece
    piece = ''
  }
  if (piece !== '') yield piece
}
