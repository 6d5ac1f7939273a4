import type { ReactNode } from 'react'

/** Code, strong, emphasis, and links to URLs; nothing else of Markdown is within a line. */
const INLINE =
  /`([^`]+)`|\*\*([^*]+)\*\*|__([^_]+)__|\*([^*\s][^*]*)\*|_([^_\s][^_]*)_|\[([^\]]+)\]\((https?:\/\/[^\s)]+)\)/g

/** A line with its markup, which is never HTML. */
function inline(line: string, hasLinks: boolean): ReactNode[] {
  const parts: ReactNode[] = []
  let end = 0
  for (const match of line.matchAll(INLINE)) {
    const [whole, code, strong, bold, emphasis, italic, name, url] = match
    parts.push(line.slice(end, match.index))
    end = match.index + whole.length
    const key = match.index
    if (code !== undefined) parts.push(<code key={key}>{code}</code>)
    else if (name !== undefined) {
      parts.push(
        hasLinks ? (
          <a key={key} href={url} target="_blank" rel="noopener noreferrer">
            {name}
          </a>
        ) : (
          <u key={key}>{name}</u>
        ),
      )
    } else if (strong !== undefined || bold !== undefined)
      parts.push(<strong key={key}>{strong ?? bold}</strong>)
    else parts.push(<em key={key}>{emphasis ?? italic}</em>)
  }
  return [...parts, line.slice(end)]
}

const HEADING = /^#{1,6}\s+/
const ITEM = /^\s*[-*+]\s+/

/** A text in Markdown on one line, as a cell shows it. */
export function MarkdownLine({ text }: { readonly text: string }) {
  const line = text
    .split('\n')
    .filter((each) => each.trim() !== '')
    .map((each) => each.replace(HEADING, '').replace(ITEM, '• '))
    .join(' ')
  return <span className="value markdown">{inline(line, false)}</span>
}

/** A text in Markdown on its lines: headings, items of lists and paragraphs. */
export function MarkdownText({ text }: { readonly text: string }) {
  return (
    <div className="markdown-text">
      {text.split('\n').map((line, index) => {
        const content = inline(line.replace(HEADING, '').replace(ITEM, '• '), true)
        // Lines have no keys and may repeat.
        // oxlint-disable-next-line react/no-array-index-key
        return <p key={index}>{HEADING.test(line) ? <strong>{content}</strong> : content}</p>
      })}
    </div>
  )
}
