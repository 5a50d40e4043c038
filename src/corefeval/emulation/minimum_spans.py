def cut_mentions(documents, paired, protocol):
    return documents, []
