graph [
  name "papers"
  node [
    id 0
    label "paper0"
    title "With on of for for texture"
    year 2003
    pages 17
    venue "P-conf"
  ]
  node [
    id 1
    label "paper1"
    title "On approach method with of"
    year 2019
    pages 9
    venue "R-conf"
  ]
  node [
    id 2
    label "paper2"
    title "On approach a for with"
    year 1997
    pages 14
    venue "R-conf"
  ]
  node [
    id 3
    label "paper3"
    title "With approach method with for proof graph"
    year 2007
    pages 17
    venue "R-conf"
    field "theory"
  ]
  node [
    id 4
    label "paper4"
    title "With fast a approach of random complexity"
    year 2004
    pages 12
    venue "Q-conf"
    field "theory"
  ]
  node [
    id 5
    label "paper5"
    title "The method approach method approach bound graph"
    year 2002
    pages 9
    venue "R-conf"
  ]
  node [
    id 6
    label "paper6"
    title "Method on approach of approach"
    year 1997
    pages 13
    venue "R-conf"
  ]
  node [
    id 7
    label "paper7"
    title "The a a approach approach join"
    year 2003
    pages 9
    venue "P-conf"
  ]
  node [
    id 8
    label "paper8"
    title "Approach of a on the"
    year 2019
    pages 9
    venue "Q-conf"
    field "databases"
  ]
  node [
    id 9
    label "paper9"
    title "A for for with of index"
    year 2015
    pages 8
    venue "P-conf"
  ]
  node [
    id 10
    label "paper10"
    title "The approach for a of bound"
    year 2018
    pages 12
    venue "R-conf"
  ]
  node [
    id 11
    label "paper11"
    title "The on a on method join transaction"
    year 2022
    pages 13
    venue "P-conf"
  ]
  node [
    id 12
    label "paper12"
    title "Fast the with with the surface"
    year 2019
    pages 14
    venue "P-conf"
  ]
  node [
    id 13
    label "paper13"
    title "On with of for for bound complexity"
    year 2005
    pages 12
    venue "R-conf"
    field "theory"
  ]
  node [
    id 14
    label "paper14"
    title "A method with for fast"
    year 2009
    pages 12
    venue "R-conf"
    field "databases"
  ]
  node [
    id 15
    label "paper15"
    title "For a a of approach"
    year 2001
    pages 13
    venue "P-conf"
  ]
  node [
    id 16
    label "paper16"
    title "On a method the with"
    year 1996
    pages 15
    venue "P-conf"
  ]
  node [
    id 17
    label "paper17"
    title "Approach on with on a mesh"
    year 2007
    pages 11
    venue "Q-conf"
  ]
  node [
    id 18
    label "paper18"
    title "Approach on on of the proof graph"
    year 2004
    pages 7
    venue "R-conf"
  ]
  node [
    id 19
    label "paper19"
    title "A approach with the approach complexity graph"
    year 2009
    pages 15
    venue "R-conf"
  ]
  node [
    id 20
    label "paper20"
    title "On of fast of for surface light"
    year 2023
    pages 12
    venue "Q-conf"
  ]
  node [
    id 21
    label "paper21"
    title "The fast on for on index index"
    year 1996
    pages 15
    venue "P-conf"
  ]
  node [
    id 22
    label "paper22"
    title "Fast approach with with with bound complexity"
    year 2005
    venue "R-conf"
  ]
  node [
    id 23
    label "paper23"
    title "A a approach a for random"
    year 2022
    venue "R-conf"
  ]
  node [
    id 24
    label "paper24"
    title "With fast with a on complexity bound"
    year 1995
    pages 17
    venue "Q-conf"
  ]
  node [
    id 25
    label "paper25"
    title "The a approach the approach graph complexity"
    year 2013
    pages 9
    venue "R-conf"
  ]
  node [
    id 26
    label "paper26"
    title "For for fast of method storage storage"
    year 2008
    pages 10
    venue "P-conf"
    field "databases"
  ]
  node [
    id 27
    label "paper27"
    title "Fast the of the for storage join"
    year 2017
    pages 14
    venue "R-conf"
  ]
  node [
    id 28
    label "paper28"
    title "The fast on of method join"
    year 2008
    pages 11
    venue "Q-conf"
  ]
  node [
    id 29
    label "paper29"
    title "Fast method on approach a"
    year 1999
    venue "P-conf"
    field "theory"
  ]
  node [
    id 30
    label "paper30"
    title "Approach for the approach approach"
    year 2021
    pages 14
    venue "R-conf"
  ]
  node [
    id 31
    label "paper31"
    title "With approach with on a texture mesh"
    year 2021
    pages 9
    venue "Q-conf"
  ]
  node [
    id 32
    label "paper32"
    title "With method the for a surface mesh"
    year 2001
    venue "R-conf"
  ]
  node [
    id 33
    label "paper33"
    title "Fast on for of fast index index"
    year 1998
    pages 12
    venue "P-conf"
  ]
  node [
    id 34
    label "paper34"
    title "A fast fast method a"
    year 1995
    pages 2
    venue "R-conf"
  ]
  node [
    id 35
    label "paper35"
    title "A on on method approach texture surface"
    year 2003
    pages 13
    venue "Q-conf"
  ]
  node [
    id 36
    label "paper36"
    title "Method a the of the bound"
    year 2002
    pages 10
    venue "Q-conf"
  ]
  node [
    id 37
    label "paper37"
    title "Fast method fast method for"
    year 2018
    pages 7
    venue "Q-conf"
    field "graphics"
  ]
  node [
    id 38
    label "paper38"
    title "A approach with approach the graph random"
    year 2017
    pages 11
    venue "R-conf"
  ]
  node [
    id 39
    label "paper39"
    title "With method of approach with index"
    year 2000
    pages 9
    venue "P-conf"
  ]
  node [
    id 40
    label "paper40"
    title "On approach with for the"
    year 2001
    pages 7
    venue "P-conf"
  ]
  node [
    id 41
    label "paper41"
    title "Of of the method on join"
    year 2023
    pages 9
    venue "P-conf"
  ]
  node [
    id 42
    label "paper42"
    title "Of of on of with bound graph"
    year 2000
    pages 6
    venue "Q-conf"
  ]
  node [
    id 43
    label "paper43"
    title "On for the on the texture"
    year 2003
    pages 11
    venue "Q-conf"
    field "graphics"
  ]
  node [
    id 44
    label "paper44"
    title "For with a with approach surface"
    year 1995
    pages 8
    venue "R-conf"
  ]
  node [
    id 45
    label "paper45"
    title "Fast a with method approach query"
    year 2003
    pages 8
    venue "P-conf"
  ]
  node [
    id 46
    label "paper46"
    title "Approach a approach for the join"
    year 2020
    pages 9
    venue "Q-conf"
  ]
  node [
    id 47
    label "paper47"
    title "The on method on of light rendering"
    year 2013
    pages 10
    venue "Q-conf"
    field "graphics"
  ]
  node [
    id 48
    label "paper48"
    title "With the method for for surface rendering"
    year 2018
    venue "Q-conf"
  ]
  node [
    id 49
    label "paper49"
    title "A a method of of storage"
    year 1996
    pages 8
    venue "P-conf"
  ]
  node [
    id 50
    label "paper50"
    title "Of on fast on for"
    year 2003
    pages 9
    venue "P-conf"
  ]
  node [
    id 51
    label "paper51"
    title "On with a for on bound random"
    year 2018
    pages 16
    venue "Q-conf"
  ]
  node [
    id 52
    label "paper52"
    title "Of the approach method with"
    year 2019
    pages 10
    venue "P-conf"
    field "databases"
  ]
  node [
    id 53
    label "paper53"
    title "Approach fast of method approach texture"
    year 2014
    pages 12
    venue "R-conf"
  ]
  node [
    id 54
    label "paper54"
    title "With of a method a random graph"
    year 2008
    pages 10
    venue "R-conf"
  ]
  node [
    id 55
    label "paper55"
    title "Approach with a method on"
    year 2003
    pages 12
    venue "P-conf"
    field "databases"
  ]
  node [
    id 56
    label "paper56"
    title "The on approach method fast storage index"
    year 2014
    pages 13
    venue "P-conf"
  ]
  node [
    id 57
    label "paper57"
    title "For for a on fast random"
    year 1999
    pages 7
    venue "Q-conf"
  ]
  node [
    id 58
    label "paper58"
    title "The for on of method"
    year 2007
    pages 10
    venue "R-conf"
  ]
  node [
    id 59
    label "paper59"
    title "For of for method with"
    year 2016
    pages 9
    venue "R-conf"
  ]
  node [
    id 60
    label "paper60"
    title "On on on of the query query"
    year 2021
    pages 14
    venue "P-conf"
  ]
  node [
    id 61
    label "paper61"
    title "The on on approach method"
    year 2021
    pages 12
    venue "R-conf"
  ]
  node [
    id 62
    label "paper62"
    title "On the for method on"
    year 2010
    pages 13
    venue "R-conf"
  ]
  node [
    id 63
    label "paper63"
    title "Of for approach approach the"
    year 1995
    pages 15
    venue "R-conf"
  ]
  node [
    id 64
    label "paper64"
    title "A a fast on approach bound complexity"
    year 2012
    pages 8
    venue "R-conf"
  ]
  node [
    id 65
    label "paper65"
    title "With method approach the on query transaction"
    year 2012
    pages 14
    venue "R-conf"
  ]
  node [
    id 66
    label "paper66"
    title "Fast fast with approach with graph"
    year 2006
    pages 10
    venue "R-conf"
  ]
  node [
    id 67
    label "paper67"
    title "Approach a the approach approach"
    year 2012
    pages 15
    venue "Q-conf"
  ]
  node [
    id 68
    label "paper68"
    title "A method fast on a texture"
    year 2013
    pages 14
    venue "Q-conf"
  ]
  node [
    id 69
    label "paper69"
    title "Approach for fast a for storage"
    year 2019
    pages 7
    venue "P-conf"
    field "databases"
  ]
  node [
    id 70
    label "paper70"
    title "Method with the with a texture"
    year 2007
    pages 12
    venue "Q-conf"
  ]
  node [
    id 71
    label "paper71"
    title "With approach on method on"
    year 2017
    pages 14
    venue "R-conf"
  ]
  node [
    id 72
    label "paper72"
    title "Approach fast fast the for"
    year 2007
    pages 13
    venue "P-conf"
  ]
  node [
    id 73
    label "paper73"
    title "A method with for for"
    year 2008
    pages 10
    venue "Q-conf"
  ]
  node [
    id 74
    label "paper74"
    title "Approach method approach on of storage"
    year 2007
    pages 11
    venue "R-conf"
  ]
  node [
    id 75
    label "paper75"
    title "Of with of method a"
    year 2016
    pages 10
    venue "Q-conf"
  ]
  node [
    id 76
    label "paper76"
    title "A for a on approach storage"
    year 2005
    pages 9
    venue "P-conf"
  ]
  node [
    id 77
    label "paper77"
    title "Of on with of a graph"
    year 2005
    pages 5
    venue "R-conf"
  ]
  node [
    id 78
    label "paper78"
    title "With of method of fast light"
    year 2002
    pages 9
    venue "Q-conf"
  ]
  node [
    id 79
    label "paper79"
    title "Method of a with method proof proof"
    year 2004
    pages 9
    venue "P-conf"
  ]
  node [
    id 80
    label "paper80"
    title "For of on on approach bound complexity"
    year 2000
    pages 14
    venue "R-conf"
  ]
  node [
    id 81
    label "paper81"
    title "On for method the approach query"
    year 2021
    pages 7
    venue "Q-conf"
  ]
  node [
    id 82
    label "paper82"
    title "For with the approach for rendering surface"
    year 2008
    venue "Q-conf"
    field "graphics"
  ]
  node [
    id 83
    label "paper83"
    title "For a the the for bound bound"
    year 2018
    pages 13
    venue "R-conf"
    field "theory"
  ]
  node [
    id 84
    label "paper84"
    title "For for of the the"
    year 2005
    pages 11
    venue "Q-conf"
    field "graphics"
  ]
  node [
    id 85
    label "paper85"
    title "On on on on fast surface rendering"
    year 2010
    pages 13
    venue "Q-conf"
  ]
  node [
    id 86
    label "paper86"
    title "Fast approach approach fast approach"
    year 2022
    pages 10
    venue "P-conf"
  ]
  node [
    id 87
    label "paper87"
    title "Of on approach fast for texture"
    year 2013
    pages 9
    venue "Q-conf"
  ]
  node [
    id 88
    label "paper88"
    title "A of of of approach"
    year 2007
    pages 6
    venue "R-conf"
  ]
  node [
    id 89
    label "paper89"
    title "For for the for fast query transaction"
    year 2010
    pages 13
    venue "Q-conf"
  ]
  node [
    id 90
    label "paper90"
    title "On for fast a for storage"
    year 2011
    pages 14
    venue "R-conf"
    field "databases"
  ]
  node [
    id 91
    label "paper91"
    title "A for method a a"
    year 2004
    pages 13
    venue "R-conf"
    field "theory"
  ]
  node [
    id 92
    label "paper92"
    title "Fast approach with the on"
    year 2020
    pages 12
    venue "R-conf"
  ]
  node [
    id 93
    label "paper93"
    title "Of for on the approach bound complexity"
    year 2000
    pages 14
    venue "R-conf"
  ]
  node [
    id 94
    label "paper94"
    title "On method a fast a"
    year 2001
    pages 10
    venue "R-conf"
  ]
  node [
    id 95
    label "paper95"
    title "On a method of fast complexity graph"
    year 2022
    pages 12
    venue "Q-conf"
  ]
  node [
    id 96
    label "paper96"
    title "Of for with for of texture"
    year 2018
    pages 13
    venue "Q-conf"
  ]
  node [
    id 97
    label "paper97"
    title "With with the of approach"
    year 2010
    pages 16
    venue "Q-conf"
  ]
  node [
    id 98
    label "paper98"
    title "Fast method the with a"
    year 2004
    pages 10
    venue "P-conf"
  ]
  node [
    id 99
    label "paper99"
    title "Method fast for on for complexity complexity"
    year 2016
    pages 11
    venue "R-conf"
  ]
  node [
    id 100
    label "paper100"
    title "Of the on of approach query"
    year 2020
    pages 14
    venue "Q-conf"
  ]
  node [
    id 101
    label "paper101"
    title "Approach method fast approach for"
    year 2020
    pages 15
    venue "R-conf"
    field "theory"
  ]
  node [
    id 102
    label "paper102"
    title "With for a on of join"
    year 2000
    pages 13
    venue "P-conf"
    field "databases"
  ]
  node [
    id 103
    label "paper103"
    title "On the method fast a light surface"
    year 2012
    pages 14
    venue "Q-conf"
  ]
  node [
    id 104
    label "paper104"
    title "Fast of fast with of"
    year 2015
    pages 14
    venue "Q-conf"
  ]
  node [
    id 105
    label "paper105"
    title "On method method for on"
    year 2014
    pages 14
    venue "R-conf"
    field "graphics"
  ]
  node [
    id 106
    label "paper106"
    title "With method the a fast proof random"
    year 1998
    pages 14
    venue "R-conf"
  ]
  node [
    id 107
    label "paper107"
    title "Method on of on on"
    year 1996
    pages 17
    venue "R-conf"
  ]
  node [
    id 108
    label "paper108"
    title "With for a method on random proof"
    year 2017
    pages 11
    venue "R-conf"
  ]
  node [
    id 109
    label "paper109"
    title "With fast of method with proof"
    year 2002
    pages 17
    venue "P-conf"
  ]
  node [
    id 110
    label "paper110"
    title "A for fast fast approach storage"
    year 2020
    pages 19
    venue "P-conf"
  ]
  node [
    id 111
    label "paper111"
    title "With of the for method graph"
    year 2021
    pages 13
    venue "Q-conf"
  ]
  node [
    id 112
    label "paper112"
    title "Approach the method of on"
    year 2016
    pages 7
    venue "R-conf"
    field "graphics"
  ]
  node [
    id 113
    label "paper113"
    title "The a on fast approach"
    year 1997
    pages 13
    venue "R-conf"
  ]
  node [
    id 114
    label "paper114"
    title "A on a a on"
    year 1996
    pages 10
    venue "Q-conf"
    field "theory"
  ]
  node [
    id 115
    label "paper115"
    title "Of a for a method"
    year 1998
    pages 13
    venue "Q-conf"
  ]
  node [
    id 116
    label "paper116"
    title "Of method a a of mesh mesh"
    year 2005
    pages 8
    venue "Q-conf"
  ]
  node [
    id 117
    label "paper117"
    title "A the for a the join transaction"
    year 2006
    pages 8
    venue "P-conf"
  ]
  node [
    id 118
    label "paper118"
    title "On the method with method mesh"
    year 1998
    pages 10
    venue "Q-conf"
    field "graphics"
  ]
  node [
    id 119
    label "paper119"
    title "Of approach on fast a join transaction"
    year 2022
    pages 10
    venue "R-conf"
  ]
  node [
    id 120
    label "paper120"
    title "For approach the method the texture rendering"
    year 2005
    pages 17
    venue "Q-conf"
    field "graphics"
  ]
  node [
    id 121
    label "paper121"
    title "For of approach a a mesh mesh"
    year 2005
    pages 14
    venue "Q-conf"
  ]
  node [
    id 122
    label "paper122"
    title "Fast a the the a rendering rendering"
    year 2008
    pages 12
    venue "Q-conf"
  ]
  node [
    id 123
    label "paper123"
    title "Of a approach method approach graph random"
    year 2023
    pages 16
    venue "P-conf"
  ]
  node [
    id 124
    label "paper124"
    title "With the the fast the"
    year 2016
    pages 11
    venue "P-conf"
    field "databases"
  ]
  node [
    id 125
    label "paper125"
    title "Approach approach the the with"
    year 2014
    pages 15
    venue "R-conf"
    field "theory"
  ]
  node [
    id 126
    label "paper126"
    title "Fast method fast fast the"
    year 2000
    pages 10
    venue "Q-conf"
  ]
  node [
    id 127
    label "paper127"
    title "Fast a approach for with complexity"
    year 1998
    pages 7
    venue "Q-conf"
  ]
  node [
    id 128
    label "paper128"
    title "On a on the with"
    year 2003
    pages 13
    venue "P-conf"
  ]
  node [
    id 129
    label "paper129"
    title "Approach with with method the"
    year 2014
    pages 18
    venue "R-conf"
    field "theory"
  ]
  node [
    id 130
    label "paper130"
    title "A for fast the for"
    year 2011
    pages 10
    venue "P-conf"
    field "databases"
  ]
  node [
    id 131
    label "paper131"
    title "The with approach a with graph"
    year 2004
    pages 16
    venue "R-conf"
  ]
  node [
    id 132
    label "paper132"
    title "Method with of fast method"
    year 2020
    pages 13
    venue "R-conf"
  ]
  node [
    id 133
    label "paper133"
    title "Method the with fast of"
    year 2014
    pages 15
    venue "P-conf"
  ]
  node [
    id 134
    label "paper134"
    title "Fast approach of the the bound"
    year 2004
    venue "R-conf"
  ]
  node [
    id 135
    label "paper135"
    title "For with of approach for"
    year 2023
    pages 12
    venue "Q-conf"
    field "databases"
  ]
  node [
    id 136
    label "paper136"
    title "For approach the fast on"
    year 2000
    pages 17
    venue "Q-conf"
  ]
  node [
    id 137
    label "paper137"
    title "The on of a for"
    year 2021
    pages 11
    venue "R-conf"
  ]
  node [
    id 138
    label "paper138"
    title "With a the for the storage"
    year 2001
    pages 8
    venue "P-conf"
  ]
  node [
    id 139
    label "paper139"
    title "On with with on on"
    year 2010
    pages 8
    venue "Q-conf"
  ]
  node [
    id 140
    label "paper140"
    title "The with approach approach on"
    year 2008
    pages 12
    venue "P-conf"
    field "databases"
  ]
  node [
    id 141
    label "paper141"
    title "Approach the of on the bound"
    year 2022
    venue "R-conf"
  ]
  node [
    id 142
    label "paper142"
    title "A the of with on bound complexity"
    year 2007
    pages 11
    venue "R-conf"
  ]
  node [
    id 143
    label "paper143"
    title "For on method fast fast"
    year 2014
    pages 10
    venue "Q-conf"
    field "databases"
  ]
  node [
    id 144
    label "paper144"
    title "For fast approach on fast texture"
    year 2004
    pages 10
    venue "P-conf"
  ]
  node [
    id 145
    label "paper145"
    title "The method the of approach"
    year 2018
    pages 8
    venue "R-conf"
  ]
  node [
    id 146
    label "paper146"
    title "For approach with fast of"
    year 2009
    venue "Q-conf"
    field "graphics"
  ]
  node [
    id 147
    label "paper147"
    title "Method on with a a bound bound"
    year 2012
    pages 10
    venue "P-conf"
    field "theory"
  ]
  node [
    id 148
    label "paper148"
    title "Of on of a with bound proof"
    year 2011
    pages 11
    venue "R-conf"
    field "theory"
  ]
  node [
    id 149
    label "paper149"
    title "The approach with on fast complexity"
    year 2005
    pages 13
    venue "R-conf"
  ]
  node [
    id 150
    label "paper150"
    title "On the for fast approach"
    year 1999
    pages 9
    venue "R-conf"
    field "theory"
  ]
  node [
    id 151
    label "paper151"
    title "Approach with on the fast texture light"
    year 2011
    venue "P-conf"
    field "graphics"
  ]
  node [
    id 152
    label "paper152"
    title "With on a with the"
    year 2022
    pages 16
    venue "R-conf"
  ]
  node [
    id 153
    label "paper153"
    title "The fast a of on bound complexity"
    year 2013
    pages 8
    venue "R-conf"
    field "theory"
  ]
  node [
    id 154
    label "paper154"
    title "Of on fast of a mesh texture"
    year 2008
    pages 9
    venue "Q-conf"
  ]
  node [
    id 155
    label "paper155"
    title "Approach a method method for texture"
    year 2003
    pages 10
    venue "R-conf"
  ]
  node [
    id 156
    label "paper156"
    title "Method a of with a"
    year 2004
    pages 13
    venue "P-conf"
  ]
  node [
    id 157
    label "paper157"
    title "A fast of on a rendering mesh"
    year 1995
    pages 11
    venue "Q-conf"
  ]
  node [
    id 158
    label "paper158"
    title "A approach with with approach light surface"
    year 2001
    venue "Q-conf"
    field "graphics"
  ]
  node [
    id 159
    label "paper159"
    title "The fast on method fast bound bound"
    year 1996
    pages 7
    venue "R-conf"
  ]
  node [
    id 160
    label "paper160"
    title "For fast a fast method proof complexity"
    year 1996
    pages 8
    venue "R-conf"
  ]
  node [
    id 161
    label "paper161"
    title "On method of on of query"
    year 2004
    venue "P-conf"
  ]
  node [
    id 162
    label "paper162"
    title "Fast with on a method index index"
    year 2005
    pages 9
    venue "P-conf"
  ]
  node [
    id 163
    label "paper163"
    title "The a a for of complexity bound"
    year 2021
    pages 11
    venue "R-conf"
    field "theory"
  ]
  node [
    id 164
    label "paper164"
    title "The on with fast method graph bound"
    year 2009
    pages 16
    venue "Q-conf"
  ]
  node [
    id 165
    label "paper165"
    title "Approach with on the a query join"
    year 2009
    pages 15
    venue "Q-conf"
  ]
  node [
    id 166
    label "paper166"
    title "The for on with approach rendering"
    year 2004
    pages 14
    venue "Q-conf"
  ]
  node [
    id 167
    label "paper167"
    title "Method for method on for storage"
    year 2016
    pages 10
    venue "P-conf"
  ]
  node [
    id 168
    label "paper168"
    title "Approach a method with the light"
    year 2005
    pages 17
    venue "Q-conf"
  ]
  node [
    id 169
    label "paper169"
    title "Method a on of approach query"
    year 2008
    pages 10
    venue "Q-conf"
    field "databases"
  ]
  node [
    id 170
    label "paper170"
    title "Method with approach the for"
    year 2008
    pages 14
    venue "Q-conf"
    field "graphics"
  ]
  node [
    id 171
    label "paper171"
    title "A a a on the"
    year 2010
    pages 15
    venue "R-conf"
  ]
  node [
    id 172
    label "paper172"
    title "For fast a for for join"
    year 2017
    pages 14
    venue "Q-conf"
  ]
  node [
    id 173
    label "paper173"
    title "Of of on for for"
    year 2014
    pages 13
    venue "R-conf"
  ]
  node [
    id 174
    label "paper174"
    title "With of method method approach light surface"
    year 2018
    pages 12
    venue "P-conf"
  ]
  node [
    id 175
    label "paper175"
    title "A method method a approach"
    year 2011
    pages 9
    venue "P-conf"
    field "graphics"
  ]
  node [
    id 176
    label "paper176"
    title "Fast a on fast the storage query"
    year 2008
    pages 9
    venue "P-conf"
  ]
  node [
    id 177
    label "paper177"
    title "Fast the a a of light"
    year 1997
    pages 12
    venue "Q-conf"
  ]
  node [
    id 178
    label "paper178"
    title "A fast of with a random bound"
    year 2001
    pages 14
    venue "Q-conf"
  ]
  node [
    id 179
    label "paper179"
    title "A with approach on approach graph"
    year 2020
    pages 14
    venue "P-conf"
  ]
  node [
    id 180
    label "paper180"
    title "Method with the method with surface mesh"
    year 2023
    pages 15
    venue "R-conf"
  ]
  node [
    id 181
    label "paper181"
    title "Of the a approach of light light"
    year 2011
    pages 7
    venue "Q-conf"
  ]
  node [
    id 182
    label "paper182"
    title "Method a fast fast method"
    year 2020
    pages 9
    venue "Q-conf"
  ]
  node [
    id 183
    label "paper183"
    title "For fast the of method"
    year 1996
    pages 11
    venue "R-conf"
  ]
  node [
    id 184
    label "paper184"
    title "Of the method the on light"
    year 1997
    pages 13
    venue "Q-conf"
  ]
  node [
    id 185
    label "paper185"
    title "The with the with with"
    year 2006
    pages 12
    venue "P-conf"
  ]
  node [
    id 186
    label "paper186"
    title "With the the of for graph"
    year 2003
    pages 9
    venue "R-conf"
  ]
  node [
    id 187
    label "paper187"
    title "On for fast the on bound complexity"
    year 1995
    pages 11
    venue "P-conf"
  ]
  node [
    id 188
    label "paper188"
    title "Approach the method method approach index"
    year 2017
    venue "Q-conf"
  ]
  node [
    id 189
    label "paper189"
    title "Fast for approach a with"
    year 1996
    pages 10
    venue "R-conf"
    field "graphics"
  ]
  node [
    id 190
    label "paper190"
    title "Of approach approach fast method random"
    year 2022
    pages 8
    venue "R-conf"
  ]
  node [
    id 191
    label "paper191"
    title "On fast fast approach with storage storage"
    year 2004
    pages 7
    venue "P-conf"
  ]
  node [
    id 192
    label "paper192"
    title "A for with for for proof graph"
    year 2015
    pages 13
    venue "R-conf"
  ]
  node [
    id 193
    label "paper193"
    title "Of fast method of with texture"
    year 1995
    pages 15
    venue "P-conf"
    field "graphics"
  ]
  node [
    id 194
    label "paper194"
    title "A fast method the on query"
    year 2012
    venue "P-conf"
  ]
  node [
    id 195
    label "paper195"
    title "The approach fast approach a proof"
    year 2008
    venue "R-conf"
  ]
  node [
    id 196
    label "paper196"
    title "Approach a approach fast on light surface"
    year 2013
    pages 9
    venue "Q-conf"
    field "graphics"
  ]
  node [
    id 197
    label "paper197"
    title "With with the the of"
    year 2003
    pages 8
    venue "R-conf"
  ]
  node [
    id 198
    label "paper198"
    title "Approach method on for for"
    year 2022
    pages 15
    venue "R-conf"
  ]
  node [
    id 199
    label "paper199"
    title "Approach for a fast for"
    year 2007
    venue "P-conf"
    field "databases"
  ]
  node [
    id 200
    label "paper200"
    title "For with of fast a"
    year 2009
    pages 11
    venue "R-conf"
  ]
  node [
    id 201
    label "paper201"
    title "Method of for a fast graph"
    year 2003
    pages 10
    venue "Q-conf"
    field "theory"
  ]
  node [
    id 202
    label "paper202"
    title "Approach on for with of bound"
    year 2017
    pages 14
    venue "P-conf"
  ]
  node [
    id 203
    label "paper203"
    title "On fast approach a for"
    year 1999
    pages 10
    venue "Q-conf"
  ]
  node [
    id 204
    label "paper204"
    title "A fast the the on join"
    year 2022
    pages 10
    venue "P-conf"
  ]
  node [
    id 205
    label "paper205"
    title "Fast with with approach with light"
    year 1998
    venue "Q-conf"
  ]
  node [
    id 206
    label "paper206"
    title "Method for on a of storage"
    year 2006
    pages 15
    venue "Q-conf"
  ]
  node [
    id 207
    label "paper207"
    title "With approach fast of approach"
    year 2006
    pages 7
    venue "R-conf"
    field "theory"
  ]
  node [
    id 208
    label "paper208"
    title "On with the method of"
    year 2022
    pages 6
    venue "Q-conf"
  ]
  node [
    id 209
    label "paper209"
    title "On approach for approach fast transaction"
    year 2018
    venue "R-conf"
  ]
  node [
    id 210
    label "paper210"
    title "A for for fast of"
    year 2023
    venue "Q-conf"
  ]
  node [
    id 211
    label "paper211"
    title "The on with the a index storage"
    year 2010
    pages 9
    venue "P-conf"
    field "databases"
  ]
  node [
    id 212
    label "paper212"
    title "Method approach for for for mesh mesh"
    year 2009
    pages 9
    venue "Q-conf"
  ]
  node [
    id 213
    label "paper213"
    title "For a fast for with bound complexity"
    year 2019
    pages 14
    venue "R-conf"
  ]
  node [
    id 214
    label "paper214"
    title "Fast fast a approach the bound random"
    year 2005
    pages 13
    venue "Q-conf"
  ]
  node [
    id 215
    label "paper215"
    title "The for method approach method complexity"
    year 2002
    pages 14
    venue "Q-conf"
  ]
  node [
    id 216
    label "paper216"
    title "Approach a method the of"
    year 2010
    pages 14
    venue "P-conf"
    field "graphics"
  ]
  node [
    id 217
    label "paper217"
    title "Approach fast a for approach"
    year 2012
    pages 10
    venue "Q-conf"
  ]
  node [
    id 218
    label "paper218"
    title "On with fast approach with index transaction"
    year 2014
    pages 17
    venue "P-conf"
  ]
  node [
    id 219
    label "paper219"
    title "For a of the approach join index"
    year 2000
    pages 11
    venue "R-conf"
    field "databases"
  ]
  node [
    id 220
    label "paper220"
    title "Of of fast the a proof"
    year 1996
    pages 9
    venue "R-conf"
    field "theory"
  ]
  node [
    id 221
    label "paper221"
    title "Approach a of fast a transaction"
    year 2015
    pages 9
    venue "R-conf"
    field "databases"
  ]
  node [
    id 222
    label "paper222"
    title "A method a of with query query"
    year 2008
    venue "P-conf"
  ]
  node [
    id 223
    label "paper223"
    title "With method fast method for"
    year 1996
    pages 11
    venue "P-conf"
  ]
  node [
    id 224
    label "paper224"
    title "The method a for approach"
    year 2022
    pages 12
    venue "Q-conf"
  ]
  node [
    id 225
    label "paper225"
    title "The a with fast a"
    year 2001
    pages 10
    venue "Q-conf"
  ]
  node [
    id 226
    label "paper226"
    title "A method approach for of"
    year 2019
    pages 11
    venue "Q-conf"
    field "graphics"
  ]
  node [
    id 227
    label "paper227"
    title "Approach on a fast fast complexity complexity"
    year 2016
    pages 10
    venue "P-conf"
  ]
  node [
    id 228
    label "paper228"
    title "With on method on of join"
    year 2008
    pages 12
    venue "R-conf"
  ]
  node [
    id 229
    label "paper229"
    title "With a fast on the query"
    year 2012
    pages 12
    venue "Q-conf"
  ]
  node [
    id 230
    label "paper230"
    title "Of with a of with graph proof"
    year 2009
    pages 9
    venue "R-conf"
    field "theory"
  ]
  node [
    id 231
    label "paper231"
    title "A approach with for method complexity bound"
    year 2021
    pages 16
    venue "R-conf"
  ]
  node [
    id 232
    label "paper232"
    title "A for of method with surface"
    year 2003
    pages 10
    venue "P-conf"
    field "graphics"
  ]
  node [
    id 233
    label "paper233"
    title "For on approach approach for"
    year 2018
    pages 10
    venue "P-conf"
    field "graphics"
  ]
  node [
    id 234
    label "paper234"
    title "A approach a on with"
    year 2005
    pages 14
    venue "Q-conf"
    field "theory"
  ]
  node [
    id 235
    label "paper235"
    title "On the fast method with"
    year 2018
    pages 12
    venue "R-conf"
  ]
  node [
    id 236
    label "paper236"
    title "With for method the for"
    year 2003
    pages 11
    venue "P-conf"
  ]
  node [
    id 237
    label "paper237"
    title "Method method of of with bound proof"
    year 2001
    pages 14
    venue "R-conf"
  ]
  node [
    id 238
    label "paper238"
    title "On method the with approach join"
    year 2023
    pages 12
    venue "Q-conf"
  ]
  node [
    id 239
    label "paper239"
    title "The a fast for a transaction"
    year 2016
    pages 11
    venue "Q-conf"
  ]
  node [
    id 240
    label "paper240"
    title "For a with of of"
    year 2018
    pages 8
    venue "R-conf"
  ]
  node [
    id 241
    label "paper241"
    title "Fast fast for with a"
    year 2011
    pages 13
    venue "P-conf"
  ]
  node [
    id 242
    label "paper242"
    title "A of method the a"
    year 2019
    venue "P-conf"
    field "graphics"
  ]
  node [
    id 243
    label "paper243"
    title "Method of on approach on complexity bound"
    year 2010
    pages 11
    venue "Q-conf"
  ]
  node [
    id 244
    label "paper244"
    title "For a for fast method bound graph"
    year 2020
    pages 10
    venue "R-conf"
  ]
  node [
    id 245
    label "paper245"
    title "Fast of the method approach"
    year 2009
    pages 9
    venue "R-conf"
  ]
  node [
    id 246
    label "paper246"
    title "Fast on on of fast"
    year 2022
    pages 5
    venue "Q-conf"
  ]
  node [
    id 247
    label "paper247"
    title "Of a the method on"
    year 2001
    pages 11
    venue "P-conf"
  ]
  node [
    id 248
    label "paper248"
    title "On method the for on"
    year 2005
    pages 11
    venue "P-conf"
    field "databases"
  ]
  node [
    id 249
    label "paper249"
    title "Method for of with a"
    year 2018
    pages 8
    venue "R-conf"
  ]
  node [
    id 250
    label "paper250"
    title "On fast on for the"
    year 2014
    pages 11
    venue "R-conf"
  ]
  node [
    id 251
    label "paper251"
    title "On the with fast for index"
    year 2007
    pages 11
    venue "P-conf"
  ]
  node [
    id 252
    label "paper252"
    title "With method a the approach random random"
    year 2005
    pages 8
    venue "R-conf"
    field "theory"
  ]
  node [
    id 253
    label "paper253"
    title "Approach a for of for"
    year 2004
    pages 10
    venue "P-conf"
  ]
  node [
    id 254
    label "paper254"
    title "Approach fast the the on complexity random"
    year 2011
    pages 16
    venue "P-conf"
  ]
  node [
    id 255
    label "paper255"
    title "Fast fast a on method"
    year 2003
    pages 16
    venue "P-conf"
  ]
  node [
    id 256
    label "paper256"
    title "Approach for approach of on"
    year 2006
    venue "P-conf"
  ]
  node [
    id 257
    label "paper257"
    title "With of a fast method complexity bound"
    year 2015
    pages 10
    venue "R-conf"
  ]
  node [
    id 258
    label "paper258"
    title "Method on on on on random proof"
    year 2005
    venue "R-conf"
  ]
  node [
    id 259
    label "paper259"
    title "On approach on for with"
    year 2009
    pages 10
    venue "R-conf"
  ]
  node [
    id 260
    label "paper260"
    title "Method with of on on complexity"
    year 2021
    pages 16
    venue "R-conf"
  ]
  node [
    id 261
    label "paper261"
    title "Of of method approach for proof"
    year 1995
    pages 10
    venue "R-conf"
  ]
  node [
    id 262
    label "paper262"
    title "The for approach on of surface surface"
    year 2014
    pages 10
    venue "P-conf"
    field "graphics"
  ]
  node [
    id 263
    label "paper263"
    title "Method with fast method the bound random"
    year 2010
    pages 11
    venue "P-conf"
  ]
  node [
    id 264
    label "paper264"
    title "Approach method fast the on"
    year 1999
    pages 12
    venue "R-conf"
    field "databases"
  ]
  node [
    id 265
    label "paper265"
    title "Approach with a fast on rendering rendering"
    year 2023
    pages 10
    venue "P-conf"
  ]
  node [
    id 266
    label "paper266"
    title "For fast fast for of graph complexity"
    year 2022
    pages 10
    venue "R-conf"
    field "theory"
  ]
  node [
    id 267
    label "paper267"
    title "For with method on the bound"
    year 2004
    pages 10
    venue "R-conf"
    field "theory"
  ]
  node [
    id 268
    label "paper268"
    title "Fast the fast for method transaction"
    year 2014
    pages 17
    venue "R-conf"
    field "databases"
  ]
  node [
    id 269
    label "paper269"
    title "Method method for method approach"
    year 2014
    pages 20
    venue "R-conf"
  ]
  node [
    id 270
    label "paper270"
    title "For of on with for"
    year 1995
    pages 10
    venue "R-conf"
  ]
  node [
    id 271
    label "paper271"
    title "Approach with for the of bound"
    year 2000
    pages 12
    venue "R-conf"
    field "theory"
  ]
  node [
    id 272
    label "paper272"
    title "Approach approach on on of"
    year 2003
    venue "Q-conf"
  ]
  node [
    id 273
    label "paper273"
    title "Method the approach with fast"
    year 2006
    pages 8
    venue "P-conf"
  ]
  node [
    id 274
    label "paper274"
    title "Fast for on method the index"
    year 2013
    pages 7
    venue "P-conf"
    field "databases"
  ]
  node [
    id 275
    label "paper275"
    title "On fast a method approach proof"
    year 2001
    pages 15
    venue "R-conf"
  ]
  node [
    id 276
    label "paper276"
    title "Approach with approach for the query"
    year 2005
    pages 9
    venue "P-conf"
    field "databases"
  ]
  node [
    id 277
    label "paper277"
    title "A on the a the"
    year 2007
    pages 11
    venue "R-conf"
  ]
  node [
    id 278
    label "paper278"
    title "Fast approach on approach approach rendering"
    year 2016
    venue "P-conf"
  ]
  node [
    id 279
    label "paper279"
    title "On approach the fast for"
    year 2014
    venue "P-conf"
  ]
  node [
    id 280
    label "paper280"
    title "The on approach on on"
    year 2021
    pages 12
    venue "R-conf"
    field "theory"
  ]
  node [
    id 281
    label "paper281"
    title "On fast the the for rendering"
    year 2001
    pages 12
    venue "Q-conf"
  ]
  node [
    id 282
    label "paper282"
    title "The approach a with with index transaction"
    year 2008
    pages 8
    venue "P-conf"
  ]
  node [
    id 283
    label "paper283"
    title "Approach on for of approach index"
    year 2006
    pages 11
    venue "P-conf"
  ]
  node [
    id 284
    label "paper284"
    title "The with for fast the"
    year 1995
    pages 15
    venue "R-conf"
    field "databases"
  ]
  node [
    id 285
    label "paper285"
    title "On with for of on bound"
    year 2014
    pages 11
    venue "R-conf"
  ]
  node [
    id 286
    label "paper286"
    title "Of the on fast fast query"
    year 2021
    pages 8
    venue "R-conf"
  ]
  node [
    id 287
    label "paper287"
    title "Of of of of a surface"
    year 2009
    pages 10
    venue "Q-conf"
  ]
  node [
    id 288
    label "paper288"
    title "Method the of fast the"
    year 2010
    pages 10
    venue "P-conf"
  ]
  node [
    id 289
    label "paper289"
    title "On of fast a a index index"
    year 2019
    pages 7
    venue "R-conf"
  ]
  node [
    id 290
    label "paper290"
    title "For with method a method"
    year 2015
    pages 17
    venue "Q-conf"
    field "graphics"
  ]
  node [
    id 291
    label "paper291"
    title "The method of a the index join"
    year 2001
    pages 9
    venue "R-conf"
  ]
  node [
    id 292
    label "paper292"
    title "For with approach on with transaction"
    year 1998
    pages 8
    venue "P-conf"
  ]
  node [
    id 293
    label "paper293"
    title "Method with on the on index"
    year 2019
    pages 15
    venue "R-conf"
    field "databases"
  ]
  node [
    id 294
    label "paper294"
    title "For a on method on"
    year 2005
    pages 11
    venue "P-conf"
  ]
  node [
    id 295
    label "paper295"
    title "Method method the the on"
    year 2014
    pages 13
    venue "Q-conf"
  ]
  node [
    id 296
    label "paper296"
    title "Method method with a a query query"
    year 2021
    pages 12
    venue "Q-conf"
  ]
  node [
    id 297
    label "paper297"
    title "For on of a with"
    year 2021
    pages 9
    venue "Q-conf"
  ]
  node [
    id 298
    label "paper298"
    title "Method for fast approach a index"
    year 2015
    pages 17
    venue "P-conf"
  ]
  node [
    id 299
    label "paper299"
    title "Approach a fast with the"
    year 1997
    pages 10
    venue "Q-conf"
    field "graphics"
  ]
  edge [
    source 0
    target 157
  ]
  edge [
    source 0
    target 174
  ]
  edge [
    source 0
    target 217
  ]
  edge [
    source 0
    target 278
  ]
  edge [
    source 1
    target 92
  ]
  edge [
    source 1
    target 170
  ]
  edge [
    source 1
    target 248
  ]
  edge [
    source 1
    target 258
  ]
  edge [
    source 1
    target 259
  ]
  edge [
    source 2
    target 11
  ]
  edge [
    source 2
    target 222
  ]
  edge [
    source 3
    target 36
  ]
  edge [
    source 3
    target 183
  ]
  edge [
    source 3
    target 252
  ]
  edge [
    source 4
    target 246
  ]
  edge [
    source 5
    target 63
  ]
  edge [
    source 5
    target 125
  ]
  edge [
    source 6
    target 43
  ]
  edge [
    source 6
    target 51
  ]
  edge [
    source 6
    target 226
  ]
  edge [
    source 7
    target 74
  ]
  edge [
    source 7
    target 76
  ]
  edge [
    source 7
    target 298
  ]
  edge [
    source 8
    target 41
  ]
  edge [
    source 8
    target 76
  ]
  edge [
    source 8
    target 90
  ]
  edge [
    source 8
    target 241
  ]
  edge [
    source 9
    target 165
  ]
  edge [
    source 10
    target 25
  ]
  edge [
    source 10
    target 281
  ]
  edge [
    source 11
    target 21
  ]
  edge [
    source 11
    target 44
  ]
  edge [
    source 11
    target 102
  ]
  edge [
    source 11
    target 206
  ]
  edge [
    source 11
    target 214
  ]
  edge [
    source 11
    target 245
  ]
  edge [
    source 11
    target 293
  ]
  edge [
    source 11
    target 298
  ]
  edge [
    source 12
    target 103
  ]
  edge [
    source 12
    target 115
  ]
  edge [
    source 12
    target 158
  ]
  edge [
    source 13
    target 24
  ]
  edge [
    source 14
    target 33
  ]
  edge [
    source 14
    target 73
  ]
  edge [
    source 14
    target 110
  ]
  edge [
    source 14
    target 200
  ]
  edge [
    source 14
    target 211
  ]
  edge [
    source 14
    target 270
  ]
  edge [
    source 14
    target 292
  ]
  edge [
    source 15
    target 38
  ]
  edge [
    source 15
    target 51
  ]
  edge [
    source 15
    target 134
  ]
  edge [
    source 16
    target 110
  ]
  edge [
    source 16
    target 152
  ]
  edge [
    source 16
    target 172
  ]
  edge [
    source 17
    target 30
  ]
  edge [
    source 17
    target 37
  ]
  edge [
    source 17
    target 87
  ]
  edge [
    source 17
    target 108
  ]
  edge [
    source 17
    target 154
  ]
  edge [
    source 17
    target 184
  ]
  edge [
    source 18
    target 106
  ]
  edge [
    source 18
    target 111
  ]
  edge [
    source 18
    target 123
  ]
  edge [
    source 18
    target 285
  ]
  edge [
    source 18
    target 295
  ]
  edge [
    source 19
    target 91
  ]
  edge [
    source 19
    target 246
  ]
  edge [
    source 19
    target 249
  ]
  edge [
    source 19
    target 252
  ]
  edge [
    source 19
    target 267
  ]
  edge [
    source 20
    target 116
  ]
  edge [
    source 20
    target 117
  ]
  edge [
    source 20
    target 134
  ]
  edge [
    source 20
    target 146
  ]
  edge [
    source 20
    target 182
  ]
  edge [
    source 20
    target 184
  ]
  edge [
    source 21
    target 48
  ]
  edge [
    source 21
    target 152
  ]
  edge [
    source 22
    target 24
  ]
  edge [
    source 22
    target 151
  ]
  edge [
    source 22
    target 234
  ]
  edge [
    source 23
    target 53
  ]
  edge [
    source 23
    target 147
  ]
  edge [
    source 24
    target 83
  ]
  edge [
    source 24
    target 149
  ]
  edge [
    source 24
    target 167
  ]
  edge [
    source 24
    target 179
  ]
  edge [
    source 24
    target 195
  ]
  edge [
    source 25
    target 123
  ]
  edge [
    source 26
    target 86
  ]
  edge [
    source 26
    target 204
  ]
  edge [
    source 26
    target 279
  ]
  edge [
    source 27
    target 45
  ]
  edge [
    source 27
    target 60
  ]
  edge [
    source 27
    target 97
  ]
  edge [
    source 27
    target 110
  ]
  edge [
    source 28
    target 65
  ]
  edge [
    source 28
    target 114
  ]
  edge [
    source 28
    target 241
  ]
  edge [
    source 28
    target 245
  ]
  edge [
    source 28
    target 264
  ]
  edge [
    source 29
    target 101
  ]
  edge [
    source 29
    target 102
  ]
  edge [
    source 29
    target 129
  ]
  edge [
    source 29
    target 214
  ]
  edge [
    source 30
    target 104
  ]
  edge [
    source 30
    target 142
  ]
  edge [
    source 30
    target 149
  ]
  edge [
    source 30
    target 213
  ]
  edge [
    source 31
    target 170
  ]
  edge [
    source 31
    target 210
  ]
  edge [
    source 31
    target 265
  ]
  edge [
    source 32
    target 68
  ]
  edge [
    source 32
    target 116
  ]
  edge [
    source 32
    target 151
  ]
  edge [
    source 32
    target 155
  ]
  edge [
    source 32
    target 194
  ]
  edge [
    source 32
    target 216
  ]
  edge [
    source 32
    target 295
  ]
  edge [
    source 34
    target 59
  ]
  edge [
    source 34
    target 113
  ]
  edge [
    source 34
    target 125
  ]
  edge [
    source 35
    target 200
  ]
  edge [
    source 35
    target 220
  ]
  edge [
    source 35
    target 232
  ]
  edge [
    source 35
    target 250
  ]
  edge [
    source 36
    target 60
  ]
  edge [
    source 36
    target 120
  ]
  edge [
    source 36
    target 260
  ]
  edge [
    source 37
    target 63
  ]
  edge [
    source 37
    target 185
  ]
  edge [
    source 37
    target 200
  ]
  edge [
    source 37
    target 210
  ]
  edge [
    source 38
    target 95
  ]
  edge [
    source 38
    target 147
  ]
  edge [
    source 38
    target 180
  ]
  edge [
    source 38
    target 275
  ]
  edge [
    source 39
    target 111
  ]
  edge [
    source 39
    target 162
  ]
  edge [
    source 40
    target 138
  ]
  edge [
    source 40
    target 147
  ]
  edge [
    source 41
    target 100
  ]
  edge [
    source 41
    target 130
  ]
  edge [
    source 41
    target 133
  ]
  edge [
    source 41
    target 199
  ]
  edge [
    source 41
    target 236
  ]
  edge [
    source 42
    target 66
  ]
  edge [
    source 42
    target 72
  ]
  edge [
    source 42
    target 123
  ]
  edge [
    source 42
    target 149
  ]
  edge [
    source 42
    target 153
  ]
  edge [
    source 42
    target 243
  ]
  edge [
    source 43
    target 67
  ]
  edge [
    source 43
    target 77
  ]
  edge [
    source 43
    target 144
  ]
  edge [
    source 44
    target 75
  ]
  edge [
    source 44
    target 87
  ]
  edge [
    source 44
    target 105
  ]
  edge [
    source 44
    target 121
  ]
  edge [
    source 44
    target 177
  ]
  edge [
    source 44
    target 262
  ]
  edge [
    source 44
    target 297
  ]
  edge [
    source 45
    target 65
  ]
  edge [
    source 45
    target 188
  ]
  edge [
    source 45
    target 208
  ]
  edge [
    source 46
    target 86
  ]
  edge [
    source 46
    target 90
  ]
  edge [
    source 46
    target 126
  ]
  edge [
    source 46
    target 128
  ]
  edge [
    source 46
    target 146
  ]
  edge [
    source 46
    target 283
  ]
  edge [
    source 46
    target 296
  ]
  edge [
    source 47
    target 90
  ]
  edge [
    source 47
    target 146
  ]
  edge [
    source 47
    target 279
  ]
  edge [
    source 48
    target 144
  ]
  edge [
    source 48
    target 205
  ]
  edge [
    source 48
    target 254
  ]
  edge [
    source 48
    target 278
  ]
  edge [
    source 48
    target 290
  ]
  edge [
    source 49
    target 165
  ]
  edge [
    source 49
    target 206
  ]
  edge [
    source 49
    target 229
  ]
  edge [
    source 49
    target 245
  ]
  edge [
    source 49
    target 286
  ]
  edge [
    source 50
    target 219
  ]
  edge [
    source 51
    target 61
  ]
  edge [
    source 51
    target 73
  ]
  edge [
    source 51
    target 91
  ]
  edge [
    source 51
    target 164
  ]
  edge [
    source 51
    target 186
  ]
  edge [
    source 51
    target 244
  ]
  edge [
    source 52
    target 208
  ]
  edge [
    source 52
    target 282
  ]
  edge [
    source 52
    target 293
  ]
  edge [
    source 53
    target 103
  ]
  edge [
    source 53
    target 193
  ]
  edge [
    source 53
    target 204
  ]
  edge [
    source 53
    target 212
  ]
  edge [
    source 54
    target 83
  ]
  edge [
    source 54
    target 117
  ]
  edge [
    source 54
    target 123
  ]
  edge [
    source 54
    target 164
  ]
  edge [
    source 54
    target 230
  ]
  edge [
    source 55
    target 199
  ]
  edge [
    source 56
    target 120
  ]
  edge [
    source 56
    target 211
  ]
  edge [
    source 57
    target 70
  ]
  edge [
    source 57
    target 153
  ]
  edge [
    source 57
    target 207
  ]
  edge [
    source 58
    target 162
  ]
  edge [
    source 58
    target 206
  ]
  edge [
    source 58
    target 240
  ]
  edge [
    source 58
    target 269
  ]
  edge [
    source 59
    target 61
  ]
  edge [
    source 59
    target 148
  ]
  edge [
    source 60
    target 100
  ]
  edge [
    source 60
    target 241
  ]
  edge [
    source 61
    target 98
  ]
  edge [
    source 61
    target 134
  ]
  edge [
    source 61
    target 160
  ]
  edge [
    source 61
    target 186
  ]
  edge [
    source 62
    target 179
  ]
  edge [
    source 63
    target 215
  ]
  edge [
    source 63
    target 260
  ]
  edge [
    source 63
    target 277
  ]
  edge [
    source 64
    target 97
  ]
  edge [
    source 64
    target 162
  ]
  edge [
    source 64
    target 263
  ]
  edge [
    source 64
    target 266
  ]
  edge [
    source 64
    target 269
  ]
  edge [
    source 64
    target 275
  ]
  edge [
    source 65
    target 89
  ]
  edge [
    source 65
    target 90
  ]
  edge [
    source 66
    target 92
  ]
  edge [
    source 66
    target 141
  ]
  edge [
    source 66
    target 163
  ]
  edge [
    source 66
    target 244
  ]
  edge [
    source 66
    target 259
  ]
  edge [
    source 66
    target 282
  ]
  edge [
    source 67
    target 166
  ]
  edge [
    source 67
    target 181
  ]
  edge [
    source 67
    target 217
  ]
  edge [
    source 67
    target 278
  ]
  edge [
    source 68
    target 246
  ]
  edge [
    source 68
    target 290
  ]
  edge [
    source 69
    target 141
  ]
  edge [
    source 71
    target 103
  ]
  edge [
    source 72
    target 158
  ]
  edge [
    source 72
    target 195
  ]
  edge [
    source 72
    target 227
  ]
  edge [
    source 72
    target 240
  ]
  edge [
    source 72
    target 267
  ]
  edge [
    source 72
    target 268
  ]
  edge [
    source 73
    target 213
  ]
  edge [
    source 73
    target 260
  ]
  edge [
    source 74
    target 98
  ]
  edge [
    source 74
    target 138
  ]
  edge [
    source 74
    target 148
  ]
  edge [
    source 74
    target 167
  ]
  edge [
    source 74
    target 191
  ]
  edge [
    source 75
    target 122
  ]
  edge [
    source 75
    target 221
  ]
  edge [
    source 76
    target 158
  ]
  edge [
    source 76
    target 167
  ]
  edge [
    source 77
    target 111
  ]
  edge [
    source 77
    target 147
  ]
  edge [
    source 77
    target 160
  ]
  edge [
    source 77
    target 190
  ]
  edge [
    source 77
    target 232
  ]
  edge [
    source 77
    target 243
  ]
  edge [
    source 78
    target 115
  ]
  edge [
    source 78
    target 146
  ]
  edge [
    source 78
    target 293
  ]
  edge [
    source 79
    target 99
  ]
  edge [
    source 79
    target 186
  ]
  edge [
    source 79
    target 195
  ]
  edge [
    source 79
    target 286
  ]
  edge [
    source 81
    target 90
  ]
  edge [
    source 81
    target 133
  ]
  edge [
    source 81
    target 163
  ]
  edge [
    source 81
    target 176
  ]
  edge [
    source 81
    target 276
  ]
  edge [
    source 82
    target 96
  ]
  edge [
    source 82
    target 173
  ]
  edge [
    source 83
    target 230
  ]
  edge [
    source 83
    target 234
  ]
  edge [
    source 83
    target 263
  ]
  edge [
    source 83
    target 293
  ]
  edge [
    source 84
    target 115
  ]
  edge [
    source 84
    target 193
  ]
  edge [
    source 84
    target 203
  ]
  edge [
    source 85
    target 118
  ]
  edge [
    source 85
    target 155
  ]
  edge [
    source 85
    target 180
  ]
  edge [
    source 86
    target 236
  ]
  edge [
    source 86
    target 255
  ]
  edge [
    source 86
    target 256
  ]
  edge [
    source 87
    target 122
  ]
  edge [
    source 87
    target 205
  ]
  edge [
    source 87
    target 250
  ]
  edge [
    source 87
    target 262
  ]
  edge [
    source 88
    target 107
  ]
  edge [
    source 88
    target 271
  ]
  edge [
    source 89
    target 114
  ]
  edge [
    source 89
    target 213
  ]
  edge [
    source 89
    target 228
  ]
  edge [
    source 90
    target 250
  ]
  edge [
    source 91
    target 92
  ]
  edge [
    source 91
    target 127
  ]
  edge [
    source 92
    target 161
  ]
  edge [
    source 92
    target 243
  ]
  edge [
    source 92
    target 246
  ]
  edge [
    source 93
    target 106
  ]
  edge [
    source 93
    target 227
  ]
  edge [
    source 93
    target 280
  ]
  edge [
    source 94
    target 164
  ]
  edge [
    source 94
    target 190
  ]
  edge [
    source 94
    target 243
  ]
  edge [
    source 94
    target 263
  ]
  edge [
    source 95
    target 113
  ]
  edge [
    source 95
    target 171
  ]
  edge [
    source 95
    target 174
  ]
  edge [
    source 95
    target 240
  ]
  edge [
    source 96
    target 168
  ]
  edge [
    source 96
    target 295
  ]
  edge [
    source 97
    target 105
  ]
  edge [
    source 97
    target 199
  ]
  edge [
    source 98
    target 110
  ]
  edge [
    source 98
    target 190
  ]
  edge [
    source 98
    target 245
  ]
  edge [
    source 98
    target 248
  ]
  edge [
    source 99
    target 106
  ]
  edge [
    source 99
    target 235
  ]
  edge [
    source 99
    target 275
  ]
  edge [
    source 100
    target 108
  ]
  edge [
    source 100
    target 238
  ]
  edge [
    source 100
    target 286
  ]
  edge [
    source 101
    target 153
  ]
  edge [
    source 101
    target 163
  ]
  edge [
    source 101
    target 234
  ]
  edge [
    source 102
    target 209
  ]
  edge [
    source 103
    target 122
  ]
  edge [
    source 103
    target 146
  ]
  edge [
    source 103
    target 174
  ]
  edge [
    source 103
    target 205
  ]
  edge [
    source 103
    target 212
  ]
  edge [
    source 103
    target 229
  ]
  edge [
    source 103
    target 233
  ]
  edge [
    source 104
    target 272
  ]
  edge [
    source 105
    target 154
  ]
  edge [
    source 105
    target 173
  ]
  edge [
    source 105
    target 262
  ]
  edge [
    source 106
    target 120
  ]
  edge [
    source 106
    target 257
  ]
  edge [
    source 107
    target 163
  ]
  edge [
    source 107
    target 223
  ]
  edge [
    source 108
    target 261
  ]
  edge [
    source 109
    target 164
  ]
  edge [
    source 109
    target 187
  ]
  edge [
    source 109
    target 274
  ]
  edge [
    source 110
    target 188
  ]
  edge [
    source 110
    target 211
  ]
  edge [
    source 110
    target 219
  ]
  edge [
    source 111
    target 114
  ]
  edge [
    source 111
    target 134
  ]
  edge [
    source 111
    target 167
  ]
  edge [
    source 111
    target 178
  ]
  edge [
    source 111
    target 249
  ]
  edge [
    source 112
    target 136
  ]
  edge [
    source 112
    target 287
  ]
  edge [
    source 113
    target 127
  ]
  edge [
    source 113
    target 141
  ]
  edge [
    source 113
    target 142
  ]
  edge [
    source 113
    target 278
  ]
  edge [
    source 113
    target 292
  ]
  edge [
    source 114
    target 163
  ]
  edge [
    source 115
    target 177
  ]
  edge [
    source 115
    target 212
  ]
  edge [
    source 116
    target 223
  ]
  edge [
    source 117
    target 128
  ]
  edge [
    source 117
    target 135
  ]
  edge [
    source 117
    target 169
  ]
  edge [
    source 117
    target 179
  ]
  edge [
    source 117
    target 284
  ]
  edge [
    source 117
    target 298
  ]
  edge [
    source 118
    target 173
  ]
  edge [
    source 118
    target 253
  ]
  edge [
    source 119
    target 134
  ]
  edge [
    source 119
    target 229
  ]
  edge [
    source 120
    target 122
  ]
  edge [
    source 120
    target 252
  ]
  edge [
    source 121
    target 132
  ]
  edge [
    source 121
    target 157
  ]
  edge [
    source 121
    target 160
  ]
  edge [
    source 122
    target 181
  ]
  edge [
    source 123
    target 153
  ]
  edge [
    source 123
    target 183
  ]
  edge [
    source 124
    target 152
  ]
  edge [
    source 124
    target 238
  ]
  edge [
    source 124
    target 255
  ]
  edge [
    source 125
    target 134
  ]
  edge [
    source 125
    target 192
  ]
  edge [
    source 125
    target 269
  ]
  edge [
    source 127
    target 225
  ]
  edge [
    source 127
    target 261
  ]
  edge [
    source 127
    target 275
  ]
  edge [
    source 128
    target 188
  ]
  edge [
    source 128
    target 208
  ]
  edge [
    source 128
    target 234
  ]
  edge [
    source 128
    target 236
  ]
  edge [
    source 128
    target 251
  ]
  edge [
    source 128
    target 252
  ]
  edge [
    source 128
    target 283
  ]
  edge [
    source 129
    target 155
  ]
  edge [
    source 129
    target 164
  ]
  edge [
    source 129
    target 195
  ]
  edge [
    source 129
    target 227
  ]
  edge [
    source 130
    target 176
  ]
  edge [
    source 130
    target 219
  ]
  edge [
    source 130
    target 236
  ]
  edge [
    source 130
    target 238
  ]
  edge [
    source 130
    target 286
  ]
  edge [
    source 132
    target 151
  ]
  edge [
    source 132
    target 247
  ]
  edge [
    source 133
    target 208
  ]
  edge [
    source 134
    target 160
  ]
  edge [
    source 134
    target 214
  ]
  edge [
    source 134
    target 235
  ]
  edge [
    source 135
    target 152
  ]
  edge [
    source 135
    target 222
  ]
  edge [
    source 135
    target 291
  ]
  edge [
    source 136
    target 199
  ]
  edge [
    source 136
    target 203
  ]
  edge [
    source 136
    target 210
  ]
  edge [
    source 136
    target 219
  ]
  edge [
    source 137
    target 201
  ]
  edge [
    source 137
    target 260
  ]
  edge [
    source 138
    target 249
  ]
  edge [
    source 138
    target 282
  ]
  edge [
    source 139
    target 205
  ]
  edge [
    source 139
    target 223
  ]
  edge [
    source 139
    target 232
  ]
  edge [
    source 140
    target 172
  ]
  edge [
    source 140
    target 194
  ]
  edge [
    source 140
    target 219
  ]
  edge [
    source 140
    target 276
  ]
  edge [
    source 141
    target 235
  ]
  edge [
    source 141
    target 267
  ]
  edge [
    source 141
    target 269
  ]
  edge [
    source 142
    target 235
  ]
  edge [
    source 143
    target 286
  ]
  edge [
    source 144
    target 198
  ]
  edge [
    source 147
    target 231
  ]
  edge [
    source 148
    target 188
  ]
  edge [
    source 148
    target 200
  ]
  edge [
    source 148
    target 252
  ]
  edge [
    source 148
    target 260
  ]
  edge [
    source 148
    target 262
  ]
  edge [
    source 148
    target 263
  ]
  edge [
    source 149
    target 192
  ]
  edge [
    source 150
    target 174
  ]
  edge [
    source 150
    target 260
  ]
  edge [
    source 151
    target 157
  ]
  edge [
    source 151
    target 193
  ]
  edge [
    source 151
    target 226
  ]
  edge [
    source 151
    target 253
  ]
  edge [
    source 152
    target 220
  ]
  edge [
    source 153
    target 155
  ]
  edge [
    source 153
    target 201
  ]
  edge [
    source 153
    target 202
  ]
  edge [
    source 153
    target 259
  ]
  edge [
    source 153
    target 261
  ]
  edge [
    source 154
    target 198
  ]
  edge [
    source 154
    target 210
  ]
  edge [
    source 154
    target 221
  ]
  edge [
    source 154
    target 250
  ]
  edge [
    source 155
    target 171
  ]
  edge [
    source 155
    target 249
  ]
  edge [
    source 156
    target 219
  ]
  edge [
    source 156
    target 249
  ]
  edge [
    source 157
    target 232
  ]
  edge [
    source 158
    target 265
  ]
  edge [
    source 160
    target 206
  ]
  edge [
    source 160
    target 278
  ]
  edge [
    source 160
    target 290
  ]
  edge [
    source 161
    target 219
  ]
  edge [
    source 161
    target 243
  ]
  edge [
    source 161
    target 275
  ]
  edge [
    source 161
    target 288
  ]
  edge [
    source 162
    target 172
  ]
  edge [
    source 162
    target 268
  ]
  edge [
    source 162
    target 286
  ]
  edge [
    source 163
    target 166
  ]
  edge [
    source 163
    target 201
  ]
  edge [
    source 164
    target 267
  ]
  edge [
    source 164
    target 275
  ]
  edge [
    source 165
    target 221
  ]
  edge [
    source 165
    target 268
  ]
  edge [
    source 166
    target 180
  ]
  edge [
    source 166
    target 185
  ]
  edge [
    source 166
    target 220
  ]
  edge [
    source 166
    target 272
  ]
  edge [
    source 168
    target 170
  ]
  edge [
    source 168
    target 173
  ]
  edge [
    source 168
    target 200
  ]
  edge [
    source 169
    target 172
  ]
  edge [
    source 169
    target 211
  ]
  edge [
    source 170
    target 198
  ]
  edge [
    source 170
    target 205
  ]
  edge [
    source 171
    target 245
  ]
  edge [
    source 173
    target 184
  ]
  edge [
    source 176
    target 245
  ]
  edge [
    source 177
    target 250
  ]
  edge [
    source 178
    target 254
  ]
  edge [
    source 180
    target 189
  ]
  edge [
    source 181
    target 287
  ]
  edge [
    source 182
    target 295
  ]
  edge [
    source 183
    target 219
  ]
  edge [
    source 185
    target 246
  ]
  edge [
    source 185
    target 255
  ]
  edge [
    source 185
    target 295
  ]
  edge [
    source 185
    target 299
  ]
  edge [
    source 188
    target 273
  ]
  edge [
    source 189
    target 205
  ]
  edge [
    source 189
    target 290
  ]
  edge [
    source 191
    target 221
  ]
  edge [
    source 191
    target 238
  ]
  edge [
    source 191
    target 274
  ]
  edge [
    source 192
    target 258
  ]
  edge [
    source 192
    target 263
  ]
  edge [
    source 194
    target 276
  ]
  edge [
    source 194
    target 292
  ]
  edge [
    source 196
    target 242
  ]
  edge [
    source 197
    target 213
  ]
  edge [
    source 197
    target 254
  ]
  edge [
    source 197
    target 260
  ]
  edge [
    source 198
    target 201
  ]
  edge [
    source 199
    target 206
  ]
  edge [
    source 200
    target 221
  ]
  edge [
    source 200
    target 262
  ]
  edge [
    source 202
    target 207
  ]
  edge [
    source 205
    target 289
  ]
  edge [
    source 206
    target 218
  ]
  edge [
    source 206
    target 221
  ]
  edge [
    source 206
    target 298
  ]
  edge [
    source 208
    target 215
  ]
  edge [
    source 209
    target 222
  ]
  edge [
    source 210
    target 224
  ]
  edge [
    source 210
    target 284
  ]
  edge [
    source 211
    target 222
  ]
  edge [
    source 211
    target 249
  ]
  edge [
    source 212
    target 295
  ]
  edge [
    source 214
    target 269
  ]
  edge [
    source 216
    target 219
  ]
  edge [
    source 216
    target 224
  ]
  edge [
    source 217
    target 223
  ]
  edge [
    source 218
    target 293
  ]
  edge [
    source 219
    target 241
  ]
  edge [
    source 221
    target 248
  ]
  edge [
    source 221
    target 256
  ]
  edge [
    source 222
    target 257
  ]
  edge [
    source 226
    target 270
  ]
  edge [
    source 226
    target 281
  ]
  edge [
    source 228
    target 279
  ]
  edge [
    source 228
    target 296
  ]
  edge [
    source 230
    target 285
  ]
  edge [
    source 232
    target 262
  ]
  edge [
    source 233
    target 250
  ]
  edge [
    source 234
    target 262
  ]
  edge [
    source 235
    target 252
  ]
  edge [
    source 236
    target 251
  ]
  edge [
    source 236
    target 293
  ]
  edge [
    source 236
    target 298
  ]
  edge [
    source 237
    target 261
  ]
  edge [
    source 239
    target 256
  ]
  edge [
    source 241
    target 283
  ]
  edge [
    source 241
    target 291
  ]
  edge [
    source 242
    target 278
  ]
  edge [
    source 245
    target 271
  ]
  edge [
    source 246
    target 263
  ]
  edge [
    source 247
    target 269
  ]
  edge [
    source 247
    target 278
  ]
  edge [
    source 251
    target 255
  ]
  edge [
    source 251
    target 289
  ]
  edge [
    source 253
    target 287
  ]
  edge [
    source 255
    target 285
  ]
  edge [
    source 261
    target 267
  ]
  edge [
    source 264
    target 279
  ]
  edge [
    source 265
    target 287
  ]
  edge [
    source 268
    target 271
  ]
  edge [
    source 268
    target 288
  ]
  edge [
    source 273
    target 294
  ]
  edge [
    source 274
    target 276
  ]
  edge [
    source 276
    target 290
  ]
  edge [
    source 277
    target 288
  ]
  edge [
    source 286
    target 292
  ]
  edge [
    source 288
    target 294
  ]
  edge [
    source 290
    target 299
  ]
]
