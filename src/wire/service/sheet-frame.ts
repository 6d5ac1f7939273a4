import { Type, type Static } from 'typebox'
import type { SheetState } from '../../sheet/runs/watch/watch-sheet.ts'

/** Payload of `sheet`, the one frame of `GET /api/sheet/events`: how the sheet stands. Texts are opaque: they only differ. */
export const SheetFrame = Type.Object({
  seq: Type.Integer({ description: 'The `seq` of the last provenance entry.' }),
  runs: Type.String({ description: 'Another text whenever a run begins, goes on or ends.' }),
  proposals: Type.Integer({ description: 'Counts up whenever a proposal is made or decided.' }),
  definition: Type.String({
    description: 'Another text whenever the contract or a derivation file changes, breaks or is mended.',
  }),
})
export type SheetFrame = Static<typeof SheetFrame>

/** The text of a frame on the stream. */
export function renderSheetFrame({ seq, runs, proposals, definition }: SheetState): string {
  return `event: sheet\ndata: ${JSON.stringify({ seq, runs, proposals, definition } satisfies SheetFrame)}\n\n`
}
