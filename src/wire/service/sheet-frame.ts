import { Type, type Static } from 'typebox'
import type { SheetState } from '../../sheet/runs/watch/watch-sheet.ts'

/** Payload of `sheet`, the only frame of `GET /api/sheet/events`. Its texts are opaque: compare them only for equality. */
export const SheetFrame = Type.Object({
  seq: Type.Integer({ description: 'The `seq` of the last provenance entry.' }),
  runs: Type.String({ description: 'Changes whenever a run starts, progresses or ends.' }),
  proposals: Type.Integer({ description: 'Increases whenever a proposal is made or decided.' }),
  definition: Type.String({
    description: 'Changes whenever the contract or a derivation file changes, becomes invalid or is fixed.',
  }),
})
export type SheetFrame = Static<typeof SheetFrame>

/** The text of a frame on the stream. */
export function renderSheetFrame({ seq, runs, proposals, definition }: SheetState): string {
  return `event: sheet\ndata: ${JSON.stringify({ seq, runs, proposals, definition } satisfies SheetFrame)}\n\n`
}
