/** Let the browser save records as a file, one a line. */
export function downloadRecords(name: string, records: object[]): void {
  const text = records.map((record) => JSON.stringify(record)).join("\n");
  const address = URL.createObjectURL(new Blob([text], { type: "application/x-ndjson" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
