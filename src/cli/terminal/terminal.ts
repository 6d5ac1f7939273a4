import { styleText } from 'node:util'

/** The styles of the command line; few, so that they look the same everywhere. */
export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'

/** The surface on which text for people is drawn. */
export interface Screen {
  /** The characters per line; infinite when lines are not cut. */
  readonly columns: number
  /** Returns the text in a style; unchanged without colours. */
  paint(style: Style, text: string): string
}

/** A stream for people or programs, such as standard output. */
export interface OutputStream extends NodeJS.WritableStream {
  /** Whether it is a terminal; absent for other streams. */
  readonly isTTY?: boolean
  readonly columns?: number
}

/** Whether a stream of this process is a terminal. */
export function isTerminal({ isTTY }: { readonly isTTY?: boolean }): boolean {
  return isTTY ?? false
}

/** The width of a terminal that does not report one. */
const USUAL_COLUMNS = 80

/** Returns the screen of a stream of this process. Honours NO_COLOR, NODE_DISABLE_COLORS and FORCE_COLOR. */
export function screenOf(stream: OutputStream): Screen {
  return {
    columns: columnsOf(stream),
    // Reads the environment and the stream each time, both of which may change.
    paint: (style, text) => styleText(style, text, { stream }),
  }
}

/**
 * Returns a screen of this width without colours, or with `colour: true` with colours whatever the environment says.
 */
export function plainScreen(columns = Infinity, { colour = false } = {}): Screen {
  return {
    columns,
    paint: (style, text) => (colour ? styleText(style, text, { validateStream: false }) : text),
  }
}

/** Returns the width of lines. Only terminals cut lines: in a file or a pipe nothing may be missing. */
function columnsOf(stream: OutputStream): number {
  const { columns } = stream
  if (!isTerminal(stream)) return Infinity
  return columns === undefined || columns <= 0 ? USUAL_COLUMNS : columns
}
