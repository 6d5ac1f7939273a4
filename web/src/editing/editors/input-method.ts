import type { KeyboardEvent } from 'react'

/** Whether an input method handles a key: it composes a text, such as `é`, `に` or `한`, and the key is part of it. */
export function isOfInputMethod({ nativeEvent }: KeyboardEvent): boolean {
  // Before the first character, and in Safari after the last one, only the code 229 says so (W3C UI Events, 7.3.1).
  return nativeEvent.isComposing || nativeEvent.keyCode === 229
}
