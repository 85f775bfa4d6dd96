"""Small real files of the kinds that offices make, written here by hand."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def pdf(pages: Sequence[Sequence[str]], *, encrypted: bool = False) -> bytes:
    """Return a PDF of these pages, each a list of lines, in a font that has Chinese."""
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "",
        "<< /Type /Font /Subtype /Type0 /BaseFont /STSong-Light /Encoding /UniGB-UCS2-H "
        "/DescendantFonts [4 0 R] >>",
        "<< /Type /Font /Subtype /CIDFontType0 /BaseFont /STSong-Light /CIDSystemInfo "
        "<< /Registry (Adobe) /Ordering (GB1) /Supplement 2 >> /DW 1000 /FontDescriptor 5 0 R >>",
        "<< /Type /FontDescriptor /FontName /STSong-Light /Flags 4 /FontBBox [-25 -254 1000 880] "
        "/ItalicAngle 0 /Ascent 880 /Descent -120 /CapHeight 880 /StemV 93 >>",
    ]
    kids: list[str] = []
    for lines in pages:
        shown = " ".join(f"<{line.encode('utf-16-be').hex()}> Tj 0 -24 Td" for line in lines)
        stream = f"BT /F1 14 Tf 72 760 Td {shown} ET"
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
        content = len(objects)
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] "
            f"/Resources << /Font << /F1 3 0 R >> >> /Contents {content} 0 R >>"
        )
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>"
    locked = ""
    if encrypted:
        objects.append(
            f"<< /Filter /Standard /V 1 /R 2 /O <{'11' * 32}> /U <{'22' * 32}> /P -44 >>"
        )
        locked = f" /Encrypt {len(objects)} 0 R /ID [<{'33' * 16}> <{'33' * 16}>]"
    out = bytearray(b"%PDF-1.4\n")
    places: list[int] = []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode("latin-1")
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    out += b"".join(f"{place:010} 00000 n \n".encode() for place in places)
    out += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R{locked} >>\n".encode()
    return bytes(out + f"startxref\n{start}\n%%EOF\n".encode())


def docx(parts: Sequence[str | Sequence[Sequence[str]]]) -> bytes:
    """Return a DOCX of paragraphs and tables; a paragraph that begins with # is a heading."""
    body = "".join(_paragraph(it) if isinstance(it, str) else _table(it) for it in parts)
    return _package(
        {
            "word/document.xml": f'<w:document xmlns:w="{_WORD}"><w:body>{body}</w:body>'
            "</w:document>",
            "word/styles.xml": f'<w:styles xmlns:w="{_WORD}"><w:style w:type="paragraph" '
            'w:styleId="Heading1"><w:name w:val="heading 1"/></w:style></w:styles>',
            "word/_rels/document.xml.rels": _relations({"rId1": ("styles", "styles.xml")}),
        },
        main=("word/document.xml", "wordprocessingml.document.main"),
        more={"word/styles.xml": "wordprocessingml.styles"},
    )


def xlsx(rows: Sequence[Sequence[str]]) -> bytes:
    """Return an XLSX with one sheet."""
    cells = "".join(
        f'<row r="{number}">'
        + "".join(
            f'<c r="{chr(65 + place)}{number}" t="inlineStr"><is><t>{escape(text)}</t></is></c>'
            for place, text in enumerate(row)
        )
        + "</row>"
        for number, row in enumerate(rows, start=1)
    )
    return _package(
        {
            "xl/workbook.xml": f'<workbook xmlns="{_SHEET}" xmlns:r="{_OFFICE}"><sheets>'
            '<sheet name="Prices" sheetId="1" r:id="rId1"/></sheets></workbook>',
            "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{_SHEET}"><sheetData>{cells}'
            "</sheetData></worksheet>",
            "xl/_rels/workbook.xml.rels": _relations(
                {"rId1": ("worksheet", "worksheets/sheet1.xml")}
            ),
        },
        main=("xl/workbook.xml", "spreadsheetml.sheet.main"),
        more={"xl/worksheets/sheet1.xml": "spreadsheetml.worksheet"},
    )


def zip_bomb(size: int) -> bytes:
    """Return a DOCX whose document unpacks to so many bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        with file.open("word/document.xml", "w", force_zip64=True) as part:
            for _ in range(size // 2**20):
                part.write(b" " * 2**20)
        file.writestr("../../escape.txt", "outside")
    return out.getvalue()


def _paragraph(text: str) -> str:
    style = '<w:pPr><w:pStyle w:val="Heading1"/></w:pPr>' if text.startswith("# ") else ""
    words = escape(text.removeprefix("# "))
    return f"<w:p>{style}<w:r><w:t>{words}</w:t></w:r></w:p>"


def _table(rows: Sequence[Sequence[str]]) -> str:
    cells = "".join(
        "<w:tr>" + "".join(f"<w:tc>{_paragraph(text)}</w:tc>" for text in row) + "</w:tr>"
        for row in rows
    )
    return f"<w:tbl>{cells}</w:tbl>"


def _relations(targets: Mapping[str, tuple[str, str]]) -> str:
    inner = "".join(
        f'<Relationship Id="{name}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for name, (kind, target) in targets.items()
    )
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{inner}</Relationships>'


def _package(parts: Mapping[str, str], *, main: tuple[str, str], more: Mapping[str, str]) -> bytes:
    types = "".join(
        f'<Override PartName="/{name}" ContentType='
        f'"application/vnd.openxmlformats-officedocument.{kind}+xml"/>'
        for name, kind in {main[0]: main[1], **more}.items()
    )
    files = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types"><Default '
        'Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Default Extension="xml" ContentType="application/xml"/>{types}</Types>',
        "_rels/.rels": _relations({"rId1": ("officeDocument", main[0])}),
        **parts,
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in files.items():
            file.writestr(name, f'<?xml version="1.0" encoding="UTF-8"?>{text}')
    return out.getvalue()
